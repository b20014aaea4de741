package dev.verbscope.analyzer.probe;

import dev.verbscope.traces.event.TraceFormatException;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/**
 * A capture packed into one file by a script of {@code verbscope probe}, or by hand from the same parts: a {@code tar},
 * with or without gzip, that holds a trace and, beside it, {@code events/}, {@code kprobe_profile.before} and
 * {@code .after}, and notes about the machine. The trace is unpacked into a folder of its own with the formats beside it,
 * so that {@link dev.verbscope.traces.io.TraceInputs#open} finds both; {@link #close()} removes the folder.
 *
 * <p>Nothing is written but members of known names, under those names: what else an archive holds, and where its names
 * point to, does not matter.
 */
public final class BundleInput implements Closeable {
    /** Largest note kept in memory, in bytes. */
    private static final int MAX_NOTE = 1 << 22;

    private static final int MAX_MEMBERS = 100_000;

    private final String source;
    private final Path folder;
    private final Map<String, byte[]> notes = new TreeMap<>();
    private final Map<String, Long> traces = new HashMap<>();
    private int formats;

    private BundleInput(String source, Path folder) {
        this.source = source;
        this.folder = folder;
    }

    /**
     * Whether a file is an archive that may be a bundle: gzip with a tar header in it, or a tar header.
     *
     * @throws IOException when the file cannot be read
     */
    public static boolean isBundle(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            return false;
        }
        try (InputStream in = unpacked(file)) {
            byte[] head = in.readNBytes(512);
            return head.length == 512 && head[257] == 'u' && head[258] == 's' && head[259] == 't' && head[260] == 'a';
        } catch (ZipException | EOFException e) {
            return false;
        }
    }

    private static InputStream unpacked(Path file) throws IOException {
        BufferedInputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
        try {
            in.mark(2);
            boolean gzip = in.read() == 0x1f && in.read() == 0x8b;
            in.reset();
            return gzip ? new GZIPInputStream(in, 1 << 16) : in;
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }

    /**
     * Unpacks a bundle.
     *
     * @throws TraceFormatException when it is damaged or holds no trace
     * @throws IOException when it cannot be read, or there is no room to unpack the trace
     */
    public static BundleInput open(Path file) throws IOException {
        BundleInput bundle = new BundleInput(file.toString(), Files.createTempDirectory("verbscope"));
        try {
            try (InputStream in = unpacked(file)) {
                bundle.unpack(new TarReader(file.toString(), in));
            } catch (ZipException | EOFException e) {
                throw new TraceFormatException(
                        file.toString(), "", "is damaged or cut off: expected a whole gzip file, " + e.getMessage());
            }
            if (bundle.traces.isEmpty()) {
                throw new TraceFormatException(
                        file.toString(),
                        "",
                        "expected an archive with trace.txt, trace.dat or perf.data in it, found none of them");
            }
            return bundle;
        } catch (IOException | RuntimeException e) {
            bundle.close();
            throw e;
        }
    }

    private void unpack(TarReader tar) throws IOException {
        int members = 0;
        while (tar.next()) {
            if (++members > MAX_MEMBERS) {
                throw new TraceFormatException(source, "", "holds more than " + MAX_MEMBERS + " members");
            }
            if (!tar.isFile()) {
                continue;
            }
            String[] path = tar.name().split("/", -1);
            String last = path[path.length - 1];
            if (isTrace(last)) {
                if (!traces.containsKey(last)) {
                    try (OutputStream out = Files.newOutputStream(folder.resolve(last))) {
                        tar.copyTo(out);
                    }
                    traces.put(last, tar.size());
                }
            } else if (path.length >= 4 && last.equals("format") && path[path.length - 4].equals("events")) {
                format(tar, path[path.length - 3], path[path.length - 2]);
            } else if (isNote(last)) {
                notes.putIfAbsent(last, tar.head(MAX_NOTE));
            }
        }
    }

    private void format(TarReader tar, String system, String event) throws IOException {
        if (isPlain(system) && isPlain(event)) {
            Path place = Files.createDirectories(
                    folder.resolve("events").resolve(system).resolve(event));
            Files.write(place.resolve("format"), tar.head(MAX_NOTE));
            formats++;
        }
    }

    private static boolean isPlain(String name) {
        return !name.isEmpty()
                && name.length() <= 128
                && name.chars().allMatch(c -> c == '_' || (c < 128 && Character.isLetterOrDigit(c)));
    }

    private static boolean isTrace(String name) {
        return name.equals("trace.dat")
                || name.equals("perf.data")
                || (name.startsWith("trace")
                        && name.endsWith(".txt")
                        && !name.startsWith("trace_clock")
                        && isPlain(name.substring(0, name.length() - 4).replace('-', '_')));
    }

    private static boolean isNote(String name) {
        return name.startsWith("kprobe_profile.")
                || name.startsWith("counters.")
                || (name.endsWith(".txt") && name.length() <= 64)
                || name.equals("record.log")
                || name.equals("probes.bt");
    }

    /**
     * The trace, unpacked: {@code trace.txt} before {@code trace.dat} before {@code perf.data} before a text of another
     * name.
     */
    public Path trace() {
        for (String name : new String[] {"trace.txt", "trace.dat", "perf.data"}) {
            if (traces.containsKey(name)) {
                return folder.resolve(name);
            }
        }
        return folder.resolve(
                traces.keySet().stream().min(Comparator.naturalOrder()).orElseThrow());
    }

    /** The trace's name for messages: the bundle's, and the member's behind it. */
    public String traceName() {
        return source + "!" + trace().getFileName();
    }

    /** Number of event formats that lie beside the trace. */
    public int formatCount() {
        return formats;
    }

    /** A note such as {@code uname.txt}; empty if it is not in the bundle. */
    public String note(String name) {
        byte[] bytes = notes.get(name);
        return bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
    }

    /** Names of the notes. */
    public Iterable<String> noteNames() {
        return notes.keySet();
    }

    /** Kernel release as the notes tell it, null if they do not. */
    public @Nullable String kernel() {
        for (String line : note("capture.txt").lines().toList()) {
            if (line.startsWith("release: ")) {
                return line.substring(9).strip();
            }
        }
        String[] words = note("uname.txt").strip().split(" ", -1);
        return words.length > 1 ? words[1] : null;
    }

    /** Driver that was probed as the notes tell it, null if they do not. */
    public @Nullable String driver() {
        for (String line : note("capture.txt").lines().toList()) {
            if (line.startsWith("driver: ")) {
                return line.substring(8).strip().toLowerCase(Locale.ROOT);
            }
        }
        return null;
    }

    /** Hits that probes missed, null if no profile was saved. */
    public @Nullable ProbeMisses misses() throws IOException {
        return ProbeMisses.between(profile("kprobe_profile.before"), profile("kprobe_profile.after"));
    }

    private @Nullable KprobeProfile profile(String name) throws IOException {
        byte[] bytes = notes.get(name);
        return bytes == null ? null : KprobeProfile.read(new ByteArrayInputStream(bytes));
    }

    @Override
    public void close() throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path dir, @Nullable IOException problem) throws IOException {
                Files.delete(dir);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
