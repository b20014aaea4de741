package dev.verbscope.traces.tracecmd;

import dev.verbscope.traces.event.TraceEvent;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Builds the ring-buffer pages of one CPU as the kernel would, into a temporary file: the layout is in CpuStream. */
final class RingPages implements Closeable {
    private static final int DELTA_BITS = 27;
    private static final int DELTA_MASK = (1 << DELTA_BITS) - 1;
    private static final int TYPE_TIME_EXTEND = 30;
    private static final int TYPE_TIME_STAMP = 31;
    private static final int MAX_TYPE_DATA = 28 * 4;
    private static final int MISSED_EVENTS = 1 << 31;
    private static final int MISSED_STORED = 1 << 30;

    private final Path path;
    private final FileChannel channel;
    private final ByteBuffer page;
    private final int longSize;
    private final int dataOffset;
    private final boolean bigEndian;
    private boolean open;
    private long stamp;
    private long lost;

    RingPages(int pageSize, int longSize, boolean bigEndian) throws IOException {
        this.longSize = longSize;
        this.bigEndian = bigEndian;
        dataOffset = 8 + longSize;
        page = ByteBuffer.allocate(pageSize).order(bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        path = Files.createTempFile("verbscope", ".pages");
        channel = FileChannel.open(
                path, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE);
    }

    /** Bytes a record may have. */
    int maxRecord() {
        return page.capacity() - dataOffset - 16 - longSize;
    }

    void add(long time, byte[] record, int offset, int length) throws IOException {
        int padded = (length + 3) & ~3;
        if (padded > maxRecord()) {
            throw new IllegalArgumentException("record of " + length + " bytes in pages of " + page.capacity());
        }
        // 8 for a time stamp, 8 for the longest header, and the number of lost events behind the last one
        if (open && page.remaining() < padded + 16 + (lost > 0 ? longSize : 0)) {
            flush();
        }
        if (!open) {
            begin(time);
        }
        long delta = time - stamp;
        if (delta < 0) {
            // the clock went back: an absolute stamp says so
            page.putInt(header(TYPE_TIME_STAMP, (int) time & DELTA_MASK)).putInt((int) (time >>> DELTA_BITS));
            delta = 0;
        } else if (delta > DELTA_MASK) {
            page.putInt(header(TYPE_TIME_EXTEND, (int) delta & DELTA_MASK)).putInt((int) (delta >>> DELTA_BITS));
            delta = 0;
        }
        if (padded <= MAX_TYPE_DATA && padded > 0) {
            page.putInt(header(padded / 4, (int) delta));
        } else {
            page.putInt(header(0, (int) delta)).putInt(padded + 4);
        }
        page.put(record, offset, length);
        for (int i = length; i < padded; i++) {
            page.put((byte) 0);
        }
        stamp = time;
    }

    private int header(int type, int delta) {
        return bigEndian ? type << DELTA_BITS | delta : delta << 5 | type;
    }

    private void begin(long time) {
        page.clear();
        page.putLong(time);
        page.position(dataOffset);
        stamp = time;
        open = true;
    }

    /** The events that follow come after {@code count} missing ones, or an unknown number. */
    void lost(long count) throws IOException {
        flush();
        lost = lost == TraceEvent.LOST_UNKNOWN || count <= 0 ? TraceEvent.LOST_UNKNOWN : lost + count;
    }

    private void flush() throws IOException {
        if (!open) {
            return;
        }
        int commit = page.position() - dataOffset;
        if (lost != 0) {
            if (lost > 0 && page.remaining() >= longSize) {
                putLong(page, lost);
                commit |= MISSED_STORED;
            }
            commit |= MISSED_EVENTS;
            lost = 0;
        }
        while (page.hasRemaining()) {
            page.put((byte) 0);
        }
        page.position(8);
        putLong(page, commit & 0xffff_ffffL);
        page.position(0);
        page.limit(page.capacity());
        while (page.hasRemaining()) {
            channel.write(page);
        }
        page.clear();
        open = false;
    }

    private void putLong(ByteBuffer to, long value) {
        if (longSize == 8) {
            to.putLong(value);
        } else {
            to.putInt((int) value);
        }
    }

    /** Ends the last page; gives the bytes of all. */
    long finish() throws IOException {
        flush();
        return channel.size();
    }

    int read(long position, byte[] into, int length) throws IOException {
        int done = 0;
        while (done < length) {
            int n = channel.read(ByteBuffer.wrap(into, done, length - done), position + done);
            if (n < 0) {
                break;
            }
            done += n;
        }
        return done;
    }

    @Override
    public void close() throws IOException {
        channel.close();
        Files.deleteIfExists(path);
    }
}
