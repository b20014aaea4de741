package dev.verbscope.traces.btf;

import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The type data of one kernel: {@code /sys/kernel/btf} or a copy of it, with files {@code vmlinux}, {@code ib_core} and
 * so on, or the same with {@code .btf} behind the name.
 */
public final class BtfFolder {
    /** Larger than any kernel's; a file that says more is not read. */
    private static final long MAX_BYTES = 256L << 20;

    private final Path folder;
    private final Map<String, Btf> read = new HashMap<>();

    public BtfFolder(Path folder) {
        this.folder = folder;
    }

    /** The folder as it was given. */
    public Path path() {
        return folder;
    }

    /** Whether there is a file for a module. */
    public boolean has(String module) {
        return find(module) != null;
    }

    /**
     * The data of {@code vmlinux}, or of a module on top of them.
     *
     * @throws TraceFormatException when there is no such file or it is no BTF
     */
    public Btf open(String module) throws IOException {
        Btf known = read.get(module);
        if (known != null) {
            return known;
        }
        Path file = file(module);
        byte[] bytes = bytes(file);
        Btf btf = module.equals("vmlinux")
                ? Btf.parse(file.toString(), bytes)
                : Btf.parseSplit(file.toString(), bytes, open("vmlinux"));
        read.put(module, btf);
        return btf;
    }

    /**
     * The file of {@code vmlinux} or a module.
     *
     * @throws TraceFormatException when there is none
     */
    public Path file(String module) throws TraceFormatException {
        Path file = find(module);
        if (file == null) {
            throw new TraceFormatException(
                    folder.toString(), "", "expected a file " + module + " or " + module + ".btf with type data");
        }
        return file;
    }

    private @Nullable Path find(String module) {
        for (String name : new String[] {module, module + ".btf"}) {
            Path file = folder.resolve(name);
            if (Files.isRegularFile(file)) {
                return file;
            }
        }
        return null;
    }

    private static byte[] bytes(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes((int) MAX_BYTES);
            if (bytes.length == MAX_BYTES) {
                throw new TraceFormatException(
                        file.toString(), "", "expected type data of less than " + MAX_BYTES + " bytes");
            }
            return bytes;
        }
    }
}
