package dev.verbscope.analyzer.probe;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** A running machine as its {@code /proc} and {@code /sys} tell of it. */
public final class TargetMachine {
    private static final int MAX_BYTES = 1 << 22;

    private final Path root;

    /**
     * @param root where {@code proc} and {@code sys} are; {@code /} but in tests
     */
    public TargetMachine(Path root) {
        this.root = root;
    }

    /** Kernel release, empty if it is not told. */
    public String release() {
        return read("proc/sys/kernel/osrelease").strip();
    }

    /** What {@code uname -m} prints, as far as the JVM tells. */
    public String machine() {
        String arch = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
        return arch.equals("amd64") ? "x86_64" : arch;
    }

    /** Modules that are loaded or built in with a folder of their own. */
    public Set<String> modules() {
        Set<String> modules = new TreeSet<>();
        read("proc/modules").lines().forEach(line -> {
            int blank = line.indexOf(' ');
            if (blank > 0) {
                modules.add(line.substring(0, blank));
            }
        });
        list("sys/module").forEach(p -> modules.add(String.valueOf(p.getFileName())));
        return modules;
    }

    /** Drivers that are known and here: those of RDMA devices first, those loaded if there is no device. */
    public List<String> drivers(CapturePlanner planner) {
        Set<String> found = new LinkedHashSet<>();
        for (Path device : list("sys/class/infiniband")) {
            String module = moduleOf(device);
            String known = module == null ? null : planner.module(module);
            if (known == null) {
                // soft drivers have no parent device; their device is named after them
                String name = String.valueOf(device.getFileName());
                for (String prefix : List.of("rxe", "siw", "mlx5", "mlx4", "bnxt_re", "irdma", "hns", "hfi1", "qib")) {
                    if (name.startsWith(prefix)) {
                        known = planner.module(prefix);
                    }
                }
            }
            if (known != null) {
                found.add(known);
            }
        }
        if (found.isEmpty()) {
            Set<String> modules = modules();
            planner.drivers().stream().filter(modules::contains).forEach(found::add);
        }
        return List.copyOf(found);
    }

    private @Nullable String moduleOf(Path device) {
        try {
            return String.valueOf(
                    device.resolve("device/driver/module").toRealPath().getFileName());
        } catch (IOException e) {
            return null;
        }
    }

    /** Folder of type data, null if the kernel serves none. */
    public @Nullable Path btf() {
        Path folder = root.resolve("sys/kernel/btf");
        return Files.isReadable(folder.resolve("vmlinux")) ? folder : null;
    }

    /** Where tracefs is mounted, null if it is not. */
    @Nullable
    Path tracefs() {
        for (String place : List.of("sys/kernel/tracing", "sys/kernel/debug/tracing")) {
            if (Files.exists(root.resolve(place).resolve("trace"))) {
                return root.resolve(place);
            }
        }
        return null;
    }

    /** Whether tracefs can be asked and says that it takes no fprobe events with names. */
    public boolean refusesNames() {
        Path tracefs = tracefs();
        if (tracefs == null) {
            return false;
        }
        String readme = read(tracefs.resolve("README"));
        return !readme.isEmpty() && !takesNames(readme);
    }

    /** Whether a README of tracefs speaks of fprobe events with names of parameters and members (kernel/trace/trace.c). */
    static boolean takesNames(String readme) {
        return readme.contains("f[:[<group>/][<event>]]") && readme.contains("<argname>[->field");
    }

    String read(String path) {
        return read(root.resolve(path));
    }

    boolean exists(String path) {
        return Files.exists(root.resolve(path));
    }

    /** Text of a file; empty if there is none or it may not be read. */
    static String read(Path file) {
        try (var in = Files.newInputStream(file)) {
            return new String(in.readNBytes(MAX_BYTES), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }

    private List<Path> list(String folder) {
        List<Path> out = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(root.resolve(folder))) {
            entries.forEach(out::add);
        } catch (IOException e) {
            return List.of();
        }
        out.sort(null);
        return out;
    }
}
