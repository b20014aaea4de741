package dev.verbscope.analyzer.probe;

import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads a tar archive from front to back: ustar, GNU long names, pax paths and sizes. A library would do; this one keeps
 * what damaged or hostile headers can cost within fixed bounds, and adds nothing to the jar.
 */
final class TarReader {
    private static final int BLOCK = 512;

    /** Longest name taken from an extension header; longer ones are refused rather than kept in memory. */
    private static final int MAX_EXTENSION = 1 << 16;

    private final String source;
    private final InputStream in;
    private final byte[] block = new byte[BLOCK];
    private long position;
    private long left;
    private int padding;
    private boolean file;
    private String name = "";
    private long size;

    TarReader(String source, InputStream in) {
        this.source = source;
        this.in = in;
    }

    /** Name of the current member. */
    String name() {
        return name;
    }

    /** Its size in bytes. */
    long size() {
        return size;
    }

    /** Whether it is a file, and not a folder, link or device. */
    boolean isFile() {
        return file;
    }

    /**
     * Moves to the next member.
     *
     * @return false at the end
     * @throws TraceFormatException when a header is none or the archive ends within a member
     */
    boolean next() throws IOException {
        String longName = null;
        long longSize = -1;
        while (true) {
            skip(left + padding);
            left = 0;
            padding = 0;
            if (!readBlock()) {
                return false;
            }
            char type = (char) (block[156] & 0xff);
            long length = number(124, 12, "size");
            switch (type) {
                case 'L' -> {
                    String text = extension(length);
                    int zero = text.indexOf('\0');
                    longName = zero < 0 ? text : text.substring(0, zero);
                }
                case 'x' -> {
                    String text = extension(length);
                    String path = pax(text, "path");
                    longName = path == null ? longName : path;
                    longSize = paxSize(text);
                }
                case 'g', 'K' -> body(length);
                default -> {
                    size = longSize >= 0 ? longSize : length;
                    name = longName != null ? longName : headerName();
                    file = type == '0' || type == 0 || type == '7';
                    // a link has a size in some archives and never a body
                    body(type >= '1' && type <= '6' ? 0 : size);
                    return true;
                }
            }
        }
    }

    private void body(long length) {
        left = length;
        padding = (int) (-length & (BLOCK - 1));
    }

    /** Copies the rest of the current member. */
    void copyTo(OutputStream out) throws IOException {
        byte[] buffer = new byte[1 << 16];
        while (left > 0) {
            int n = in.read(buffer, 0, (int) Math.min(buffer.length, left));
            if (n < 0) {
                throw ended();
            }
            out.write(buffer, 0, n);
            left -= n;
            position += n;
        }
    }

    /** At most {@code limit} bytes of the current member. */
    byte[] head(int limit) throws IOException {
        byte[] bytes = in.readNBytes((int) Math.min(limit, left));
        left -= bytes.length;
        position += bytes.length;
        return bytes;
    }

    private String extension(long length) throws IOException {
        if (length > MAX_EXTENSION) {
            throw problem("expected an extension of at most " + MAX_EXTENSION + " bytes, found " + length);
        }
        body(length);
        byte[] bytes = head(MAX_EXTENSION);
        if (bytes.length < length) {
            throw ended();
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** The value of a pax record: {@code LENGTH KEY=VALUE\n}. */
    private static @Nullable String pax(String records, String key) {
        for (String line : records.split("\n", -1)) {
            int blank = line.indexOf(' ');
            if (blank > 0 && line.startsWith(key + "=", blank + 1)) {
                return line.substring(blank + key.length() + 2);
            }
        }
        return null;
    }

    private long paxSize(String records) throws TraceFormatException {
        String text = pax(records, "size");
        if (text == null) {
            return -1;
        }
        if (text.isEmpty() || text.length() > 18 || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw problem("expected a decimal size, found \"" + text + "\"");
        }
        return Long.parseLong(text);
    }

    private String headerName() {
        String prefix = block[257] == 'u' && block[258] == 's' && block[263] == '0' ? text(345, 155) : "";
        return prefix.isEmpty() ? text(0, 100) : prefix + "/" + text(0, 100);
    }

    private String text(int from, int length) {
        int to = from;
        while (to < from + length && block[to] != 0) {
            to++;
        }
        return new String(block, from, to - from, StandardCharsets.UTF_8);
    }

    /** An octal number, or a binary one where the first byte says so. */
    private long number(int from, int length, String what) throws TraceFormatException {
        if ((block[from] & 0x80) != 0) {
            long value = block[from] & 0x7f;
            for (int i = from + 1; i < from + length; i++) {
                if (value >>> 47 != 0) {
                    throw problem("the " + what + " is beyond belief");
                }
                value = (value << 8) | (block[i] & 0xff);
            }
            return value;
        }
        long value = 0;
        boolean any = false;
        for (int i = from; i < from + length; i++) {
            int c = block[i];
            if (c >= '0' && c <= '7') {
                value = (value << 3) | (c - '0');
                any = true;
            } else if (c == 0 || c == ' ') {
                if (any) {
                    break;
                }
            } else {
                throw problem("expected an octal " + what + ", found byte 0x" + Integer.toHexString(c & 0xff));
            }
        }
        return value;
    }

    /** Reads a header; false at the end of the archive. */
    private boolean readBlock() throws IOException {
        int n = in.readNBytes(block, 0, BLOCK);
        position += n;
        if (n == 0) {
            return false;
        }
        if (n < BLOCK) {
            throw ended();
        }
        if (isZero(block)) {
            return false;
        }
        int sum = 0;
        for (int i = 0; i < BLOCK; i++) {
            sum += i >= 148 && i < 156 ? ' ' : block[i] & 0xff;
        }
        if (sum != number(148, 8, "checksum")) {
            throw problem("expected a tar header, found a block whose checksum is wrong");
        }
        return true;
    }

    private static boolean isZero(byte[] bytes) {
        return Arrays.equals(bytes, new byte[bytes.length]);
    }

    private void skip(long n) throws IOException {
        long rest = n;
        while (rest > 0) {
            long skipped = in.skip(rest);
            if (skipped <= 0) {
                if (in.read() < 0) {
                    throw ended();
                }
                skipped = 1;
            }
            rest -= skipped;
            position += skipped;
        }
    }

    private TraceFormatException ended() {
        return problem("the archive ends within " + (name.isEmpty() ? "its first member" : name));
    }

    private TraceFormatException problem(String text) {
        return new TraceFormatException(source, "offset " + position + " of the unpacked archive", text);
    }
}
