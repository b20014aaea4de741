package dev.verbscope.traces.format;

import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Known event formats by name. One name may have several: text does not say which system or which kernel an event is
 * of, so a text reader tries them in order: those added, then those of a folder, then those of the catalogue behind.
 */
public final class EventCatalog {
    private final Map<String, List<EventFormat>> byName = new HashMap<>();
    private final List<String> problems = new ArrayList<>();
    private final @Nullable EventCatalog behind;
    private final List<Path> systems = new ArrayList<>();
    private final @Nullable Shipped shipped;

    /** An empty catalogue. */
    public EventCatalog() {
        this(null, null);
    }

    /** A catalogue whose formats come before those of another one. */
    public EventCatalog(EventCatalog behind) {
        this(behind, null);
    }

    private EventCatalog(@Nullable EventCatalog behind, @Nullable Shipped shipped) {
        this.behind = behind;
        this.shipped = shipped;
    }

    /**
     * The formats of Linux 6.1, 6.12 and 5.10, as far as this program knows them (KERNEL_FACTS.md section 2). They are
     * read when the first name is asked for, and parsed name by name.
     */
    public static EventCatalog shipped() {
        return new EventCatalog(null, Shipped.INSTANCE);
    }

    /**
     * The formats of a tracefs {@code events} folder or a copy of it, in front of those of another catalogue. A file is
     * read when its name is asked for.
     *
     * @throws IOException when the folder cannot be listed
     */
    public static EventCatalog folder(Path events, EventCatalog behind) throws IOException {
        EventCatalog catalog = new EventCatalog(behind);
        try (DirectoryStream<Path> children = Files.newDirectoryStream(events, Files::isDirectory)) {
            children.forEach(catalog.systems::add);
        }
        catalog.systems.sort(null);
        return catalog;
    }

    public void add(EventFormat format) {
        byName.computeIfAbsent(format.name(), k -> new ArrayList<>()).add(format);
    }

    public void addAll(Collection<EventFormat> formats) {
        formats.forEach(this::add);
    }

    /** Formats of that name, those to try first in front; empty if none. */
    public List<EventFormat> named(String name) {
        List<EventFormat> out = new ArrayList<>(byName.getOrDefault(name, List.of()));
        if (isPlain(name)) {
            for (Path system : systems) {
                fromFile(system, name, out);
            }
        }
        if (shipped != null) {
            shipped.named(name, out);
        }
        if (behind != null) {
            out.addAll(behind.named(name));
        }
        return out;
    }

    /** Format files that could not be read so far, one sentence each. */
    public List<String> problems() {
        return List.copyOf(problems);
    }

    /** A name that is no path. */
    private static boolean isPlain(String name) {
        return !name.isEmpty() && name.chars().allMatch(c -> c == '_' || (c < 128 && Character.isLetterOrDigit(c)));
    }

    private void fromFile(Path system, String name, List<EventFormat> out) {
        Path file = system.resolve(name).resolve("format");
        if (!Files.isRegularFile(file)) {
            return;
        }
        try {
            String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
            out.add(FormatParser.parse(file.toString(), String.valueOf(system.getFileName()), text));
        } catch (IOException e) {
            problems.add(String.valueOf(e.getMessage()));
        }
    }

    /** The format files among the resources: an index of the text, parsed piece by piece. */
    private static final class Shipped {
        static final Shipped INSTANCE = new Shipped();

        private static final List<String> RESOURCES =
                List.of("linux-6.1.formats", "linux-6.12.formats", "linux-5.10.formats");
        private static final String MARK = "\n@@ ";

        private record Piece(String resource, String system, String text, int from, int to) {}

        private @Nullable Map<String, List<Piece>> index;

        synchronized void named(String name, List<EventFormat> out) {
            Map<String, List<Piece>> pieces = index;
            if (pieces == null) {
                pieces = new HashMap<>();
                for (String resource : RESOURCES) {
                    index(resource, pieces);
                }
                index = pieces;
            }
            for (Piece piece : pieces.getOrDefault(name, List.of())) {
                try {
                    String text = piece.text.substring(piece.from, piece.to);
                    out.add(FormatParser.parse(piece.resource, piece.system, text));
                } catch (TraceFormatException e) {
                    throw new IllegalStateException("a shipped format file is broken", e);
                }
            }
        }

        private static void index(String resource, Map<String, List<Piece>> out) {
            String text = read(resource);
            int mark = text.indexOf(MARK);
            while (mark >= 0) {
                int systemStart = mark + MARK.length();
                int body = text.indexOf('\n', systemStart) + 1;
                int next = text.indexOf(MARK, body);
                int nameStart = text.indexOf("name: ", body) + 6;
                String name = text.substring(nameStart, text.indexOf('\n', nameStart));
                String system = text.substring(systemStart, body - 1);
                int end = next < 0 ? text.length() : next;
                out.computeIfAbsent(name, k -> new ArrayList<>(2)).add(new Piece(resource, system, text, body, end));
                mark = next;
            }
        }

        private static String read(String resource) {
            try (InputStream in = EventCatalog.class.getResourceAsStream(resource)) {
                if (in == null) {
                    throw new IllegalStateException("resource " + resource + " is missing");
                }
                return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
