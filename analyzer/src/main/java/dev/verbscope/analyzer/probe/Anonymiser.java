package dev.verbscope.analyzer.probe;

import dev.verbscope.traces.event.TraceFormatException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;

/**
 * Takes out of a bundle what tells of its owner: IP addresses (in every form that kernel events print), link-local and
 * other IPv6 addresses, MAC addresses, and names of tasks that are not the kernel's own. The same one becomes the same
 * stand-in everywhere, so that peers and tasks still can be told apart. Kernel addresses stay: they join probes.
 */
public final class Anonymiser {
    /** IPv4 with or without port; no digits or dots around, so that time stamps and versions stay. */
    private static final Pattern IPV4 =
            Pattern.compile("(?<![0-9A-Za-z.])(\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3})(?![0-9.])");

    private static final Pattern MAC =
            Pattern.compile("(?<![0-9A-Fa-f:])[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}(?![0-9A-Fa-f:])");

    /** In brackets, or long enough to be no time of day. */
    private static final Pattern IPV6 = Pattern.compile("(?<=\\[)[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(?=\\])"
            + "|(?<![0-9A-Za-z:])[0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{0,4}){3,7}(?![0-9A-Za-z:])");

    /** TASK-PID in front of the CPU. */
    private static final Pattern TASK = Pattern.compile("^( *)(.+?)(-\\d+ +(?:\\([ -]*\\d*\\) +)?\\[\\d+\\])");

    /** Beginnings of names that are the kernel's, and tell which context ran. */
    private static final Set<String> KERNEL_TASKS = Set.of(
            "kworker",
            "ksoftirqd",
            "swapper",
            "<idle>",
            "<...>",
            "nfsd",
            "migration",
            "rcu",
            "irq",
            "kthread",
            "nvme",
            "rxe",
            "siw",
            "ib_",
            "iser",
            "srp",
            "kcompactd",
            "ksmbd",
            "cifsd");

    private final Map<String, String> standIns = new HashMap<>();

    /** One line of a trace. */
    String traceLine(String line) {
        Matcher task = TASK.matcher(line);
        if (!line.startsWith("#") && task.find()) {
            String name = task.group(2);
            return task.group(1) + task(name) + task.group(3) + addresses(line.substring(task.end()));
        }
        return addresses(line);
    }

    /** A task's name, or its stand-in if it is not the kernel's own. */
    public String task(String name) {
        boolean kernel = name.isEmpty() || KERNEL_TASKS.stream().anyMatch(name::startsWith);
        return kernel ? name : standIn("task:" + name, n -> "task" + n);
    }

    /** The stand-in of a host's name. */
    public String host(String name) {
        return standIn("host:" + name, n -> "host" + n);
    }

    /** A text with addresses replaced. */
    public String text(String text) {
        return addresses(text);
    }

    /** A text with addresses replaced. */
    String addresses(String text) {
        String out = replace(text, MAC, "mac:", n -> "02-00-00-00-" + hex(n));
        out = replace(out, IPV6, "ip6:", n -> "2001:db8::" + n);
        // 192.0.2.0/24, 198.51.100.0/24 and 203.0.113.0/24 are for documentation; more than they hold goes to 198.18/15
        return replace(out, IPV4, "ip4:", n -> {
            int i = Integer.parseInt(n);
            return i < 255 ? "192.0.2." + i : "198.18." + (i >> 8) + "." + (i & 0xff);
        });
    }

    private static String hex(String number) {
        int n = Integer.parseInt(number);
        return String.format(java.util.Locale.ROOT, "%02x-%02x", n >> 8 & 0xff, n & 0xff);
    }

    private String replace(String text, Pattern pattern, String kind, UnaryOperator<String> form) {
        Matcher matcher = pattern.matcher(text);
        return matcher.find()
                ? pattern.matcher(text).replaceAll(m -> Matcher.quoteReplacement(standIn(kind + m.group(), form)))
                : text;
    }

    private String standIn(String original, UnaryOperator<String> form) {
        String kind = original.substring(0, original.indexOf(':'));
        String known = standIns.get(original);
        if (known == null) {
            long n = standIns.keySet().stream()
                            .filter(k -> k.startsWith(kind + ":"))
                            .count()
                    + 1;
            known = form.apply(Long.toString(n));
            standIns.put(original, known);
        }
        return known;
    }

    /**
     * Writes a bundle without what tells of its owner. Module lists, port counters and formats go along as they are;
     * kernel messages and {@code rdma res show} with addresses replaced and, since they name programs, without task names.
     *
     * @throws TraceFormatException when the trace is binary: names are all over it; capture text, or send no bundle
     */
    public static void rewrite(BundleInput in, Path out) throws IOException {
        Path trace = in.trace();
        if (!String.valueOf(trace.getFileName()).endsWith(".txt")) {
            throw new TraceFormatException(
                    in.traceName(),
                    "",
                    "is binary, and names cannot be taken out of it; turn it into text first, or capture with"
                            + " --tool tracefs");
        }
        Anonymiser anonymiser = new Anonymiser();
        Path text = Files.createTempFile("verbscope", ".txt");
        Path packed = Files.createTempFile("verbscope", ".tar.gz");
        try {
            try (BufferedReader lines = Files.newBufferedReader(trace, StandardCharsets.ISO_8859_1);
                    var writer = Files.newBufferedWriter(text, StandardCharsets.ISO_8859_1)) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    writer.write(anonymiser.traceLine(line));
                    writer.write('\n');
                }
            }
            try (TarWriter tar = new TarWriter(new GZIPOutputStream(Files.newOutputStream(packed)))) {
                tar.add("verbscope/trace.txt", text);
                for (String name : in.noteNames()) {
                    if (!name.equals("dmesg.txt") && !name.equals("record.log")) {
                        String note = anonymiser.addresses(in.note(name)).replaceAll("comm \\S+", "comm -");
                        tar.add("verbscope/" + name, note.getBytes(StandardCharsets.UTF_8));
                    }
                }
                addFormats(trace.resolveSibling("events"), tar);
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
            Files.move(packed, out, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(text);
            Files.deleteIfExists(packed);
        }
    }

    private static void addFormats(Path events, TarWriter tar) throws IOException {
        if (!Files.isDirectory(events)) {
            return;
        }
        try (var files = Files.walk(events)) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile).sorted()::iterator) {
                tar.add("verbscope/events/" + events.relativize(file).toString().replace('\\', '/'), file);
            }
        }
    }

    /** The least of tar that every reader takes. */
    private static final class TarWriter implements AutoCloseable {
        private final OutputStream out;

        TarWriter(OutputStream out) {
            this.out = out;
        }

        void add(String name, byte[] body) throws IOException {
            header(name, body.length);
            out.write(body);
            out.write(new byte[-body.length & 511]);
        }

        void add(String name, Path file) throws IOException {
            long size = Files.size(file);
            header(name, size);
            Files.copy(file, out);
            out.write(new byte[(int) (-size & 511)]);
        }

        private void header(String name, long size) throws IOException {
            byte[] header = new byte[512];
            int slash = name.length() > 100 ? name.indexOf('/', name.length() - 101) : -1;
            put(header, 0, 100, name.substring(slash + 1));
            put(header, 345, 155, slash < 0 ? "" : name.substring(0, slash));
            put(header, 100, 8, "0000644");
            put(header, 108, 8, "0000000");
            put(header, 116, 8, "0000000");
            put(header, 124, 12, String.format(java.util.Locale.ROOT, "%011o", size));
            put(header, 136, 12, "00000000000");
            header[156] = '0';
            put(header, 257, 8, "ustar\00000");
            put(header, 148, 8, "        ");
            int sum = 0;
            for (byte b : header) {
                sum += b & 0xff;
            }
            put(header, 148, 8, String.format(java.util.Locale.ROOT, "%06o\0 ", sum));
            out.write(header);
        }

        private static void put(byte[] header, int at, int length, String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            System.arraycopy(bytes, 0, header, at, Math.min(length, bytes.length));
        }

        @Override
        public void close() throws IOException {
            out.write(new byte[1024]);
            out.close();
        }
    }
}
