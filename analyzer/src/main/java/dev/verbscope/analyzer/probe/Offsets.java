package dev.verbscope.analyzer.probe;

import dev.verbscope.traces.btf.Btf;
import dev.verbscope.traces.btf.BtfFolder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where members of structures lie in one kernel. */
interface Offsets {
    /** Nothing is known. */
    Offsets NONE = new Offsets() {
        @Override
        public int of(String struct, String member) {
            return -1;
        }

        @Override
        public String source() {
            return "none";
        }
    };

    /** Offset of a member in bytes, -1 if it is not known. */
    int of(String struct, String member);

    /** Where the figures come from, as a phrase. */
    String source();

    /** Names of a function's parameters where the source tells them, null otherwise. */
    default @Nullable List<String> parameters(String function) {
        return null;
    }

    /** From a table. */
    static Offsets table(Map<String, Integer> table, String from) {
        return new Offsets() {
            @Override
            public int of(String struct, String member) {
                return table.getOrDefault(struct + "." + member, -1);
            }

            @Override
            public String source() {
                return "the table of known kernels (read from the type data of " + from + ")";
            }
        };
    }

    /**
     * From a kernel's type data: those of the modules named, the first one first, then those of vmlinux.
     *
     * @throws IOException when data are missing or damaged
     */
    static Offsets btf(BtfFolder folder, List<String> modules) throws IOException {
        List<Btf> data = new ArrayList<>();
        for (String module : modules) {
            if (folder.has(module)) {
                data.add(folder.open(module));
            }
        }
        data.add(folder.open("vmlinux"));
        return new Offsets() {
            @Override
            public int of(String struct, String member) {
                for (Btf btf : data) {
                    Btf.Member found = btf.member(struct, member);
                    if (found != null) {
                        return found.bits() == 0 ? found.offset() : -1;
                    }
                }
                return -1;
            }

            @Override
            public String source() {
                return "type data (BTF) in " + folder.path();
            }

            @Override
            public @Nullable List<String> parameters(String function) {
                for (Btf btf : data) {
                    List<Btf.Parameter> found = btf.parameters(function);
                    if (found != null) {
                        return found.stream().map(Btf.Parameter::name).toList();
                    }
                }
                return null;
            }
        };
    }
}
