package dev.verbscope.traces.perf;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a file or stream from front to back through a window of fixed size. The bytes that {@link #require}
 * promised lie at {@link #at()} in {@link #window()} until the next call.
 */
final class PerfInput implements Closeable {
    /** More than four times the largest record (65,535 bytes, for a record's size has 16 bits). */
    private static final int WINDOW = 1 << 18;

    private final @Nullable FileChannel file;
    private final @Nullable InputStream stream;
    private final byte[] window = new byte[WINDOW];
    private final ByteBuffer view = ByteBuffer.wrap(window);
    private int pos;
    private int end;
    private long base;
    private long limit = Long.MAX_VALUE;
    private boolean eof;

    PerfInput(FileChannel file) {
        this.file = file;
        this.stream = null;
    }

    PerfInput(InputStream stream) {
        this.file = null;
        this.stream = stream;
    }

    /** Goes to an offset of a file and pretends that the file ends at {@code newLimit}. */
    void section(long offset, long newLimit) {
        pos = 0;
        end = 0;
        base = offset;
        limit = newLimit;
        eof = false;
    }

    byte[] window() {
        return window;
    }

    int at() {
        return pos;
    }

    /** Offset from the input's start of the byte at {@link #at()}. */
    long offset() {
        return base + pos;
    }

    /** Bytes at {@link #at()} that are in the window already. */
    int buffered() {
        return end - pos;
    }

    /**
     * Makes the next bytes available.
     *
     * @param n at most the window's size
     * @return false if the input ends before
     */
    boolean require(int n) throws IOException {
        return end - pos >= n || refill(n);
    }

    private boolean refill(int n) throws IOException {
        if (n > WINDOW) {
            throw new IllegalArgumentException(n + " bytes do not fit the window");
        }
        System.arraycopy(window, pos, window, 0, end - pos);
        base += pos;
        end -= pos;
        pos = 0;
        while (end < n && !eof) {
            fill();
        }
        return end >= n;
    }

    private void fill() throws IOException {
        // a section may claim to begin behind its limit
        long left = Math.max(0, limit - base - end);
        int room = (int) Math.min(WINDOW - end, left);
        if (room == 0) {
            eof = true;
            return;
        }
        int got;
        if (file != null) {
            view.limit(end + room).position(end);
            got = file.read(view, base + end);
        } else {
            got = stream == null ? -1 : stream.read(window, end, room);
        }
        if (got < 0) {
            eof = true;
        } else {
            end += got;
        }
    }

    /** Steps over bytes that {@link #require} promised. */
    void advance(int n) {
        pos += n;
    }

    /** Copies bytes that follow; returns how many there were. */
    int read(byte[] target, int offset, int n) throws IOException {
        int done = 0;
        while (done < n) {
            if (pos == end && !refill(1)) {
                break;
            }
            int part = Math.min(n - done, end - pos);
            System.arraycopy(window, pos, target, offset + done, part);
            pos += part;
            done += part;
        }
        return done;
    }

    /** Steps over bytes that need not be there; returns how many were. */
    long skip(long n) throws IOException {
        long left = n;
        int part = (int) Math.min(left, end - pos);
        pos += part;
        left -= part;
        if (left > 0 && file != null) {
            long there = Math.max(0, Math.min(limit, file.size()) - offset());
            long jump = Math.min(left, there);
            section(offset() + jump, limit);
            return n - left + jump;
        }
        while (left > 0 && (pos < end || refill(1))) {
            part = (int) Math.min(left, end - pos);
            pos += part;
            left -= part;
        }
        return n - left;
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            file.close();
        }
        if (stream != null) {
            stream.close();
        }
    }
}
