package dev.verbscope.traces.tracecmd;

import dev.verbscope.traces.binary.Bytes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Reads the metadata of a trace.dat in sequence, from the file or from a decompressed section. */
final class MetaInput {
    /** No piece of metadata is larger: a kernel's kallsyms has some 15 MB, its event formats 5 MB. */
    static final int MAX_PIECE = 64 << 20;

    private static final int BUFFER = 1 << 16;

    private final @Nullable FileBytes file;
    private final boolean bigEndian;
    /** File offset behind the last byte of this input, or the array's length. */
    private final long end;

    private final byte[] buffer;
    /** Where buffer[0] stands. */
    private long base;

    private int filled;
    private int at;

    /** Reads a file from a position on. */
    MetaInput(FileBytes file, boolean bigEndian, long position) {
        this.file = file;
        this.bigEndian = bigEndian;
        end = file.size();
        buffer = new byte[(int) Math.min(BUFFER, Math.max(16, end))];
        base = position;
    }

    /** Reads a section's bytes. */
    MetaInput(byte[] section, boolean bigEndian) {
        file = null;
        this.bigEndian = bigEndian;
        end = section.length;
        buffer = section;
        filled = section.length;
    }

    long position() {
        return base + at;
    }

    long remaining() {
        return Math.max(0, end - position());
    }

    private void need(int bytes) throws IOException {
        if (filled - at >= bytes) {
            return;
        }
        if (file == null || remaining() < bytes) {
            throw new CutException(end);
        }
        int kept = filled - at;
        System.arraycopy(buffer, at, buffer, 0, kept);
        base += at;
        at = 0;
        filled = kept + file.read(base + kept, buffer, kept, buffer.length - kept);
        if (filled < bytes) {
            throw new CutException(end);
        }
    }

    int u8() throws IOException {
        need(1);
        return buffer[at++] & 0xff;
    }

    int u16() throws IOException {
        need(2);
        at += 2;
        return Bytes.int16(buffer, at - 2, bigEndian) & 0xffff;
    }

    int i32() throws IOException {
        need(4);
        at += 4;
        return Bytes.int32(buffer, at - 4, bigEndian);
    }

    /** A 32-bit size as 0 to 2^32-1. */
    long u32() throws IOException {
        return i32() & 0xffff_ffffL;
    }

    long i64() throws IOException {
        need(8);
        at += 8;
        return Bytes.int64(buffer, at - 8, bigEndian);
    }

    /** A piece whose size the input tells: never allocates more than the input still holds. */
    byte[] bytes(long size) throws IOException {
        if (size < 0 || size > remaining() || size > MAX_PIECE) {
            throw new CutException(end);
        }
        byte[] piece = new byte[(int) size];
        int have = Math.min(piece.length, filled - at);
        System.arraycopy(buffer, at, piece, 0, have);
        at += have;
        if (have < piece.length) {
            if (file == null || file.read(position(), piece, have, piece.length - have) < piece.length - have) {
                throw new CutException(end);
            }
            seek(position() + piece.length - have);
        }
        return piece;
    }

    void skip(long size) throws IOException {
        if (size < 0 || size > remaining()) {
            throw new CutException(end);
        }
        if (size <= filled - at) {
            at += (int) size;
        } else {
            seek(position() + size);
        }
    }

    private void seek(long position) {
        base = position;
        at = 0;
        filled = 0;
    }

    /** A string up to its NUL, which is consumed; at most {@code max} bytes. */
    String string(int max) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < max; i++) {
            int b = u8();
            if (b == 0) {
                return text.toString();
            }
            text.append((char) b);
        }
        throw new CutException(position());
    }

    /** A fixed number of ASCII bytes. */
    String ascii(int length) throws IOException {
        return new String(bytes(length), StandardCharsets.ISO_8859_1);
    }
}
