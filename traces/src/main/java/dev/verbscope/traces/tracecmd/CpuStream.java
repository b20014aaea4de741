package dev.verbscope.traces.tracecmd;

import dev.verbscope.traces.binary.Bytes;
import dev.verbscope.traces.event.ImportStats;
import dev.verbscope.traces.event.TraceEvent;
import java.io.IOException;

/**
 * The ring-buffer pages of one CPU, event by event.
 *
 * <pre>
 *   page:   | stamp (8) | commit (long) | data ... commit bytes | lost count (long), if bit 30 |
 *   event:  | type_len : 5, time_delta : 27 | array ... |
 *             type_len 1..28   data of 4 * type_len bytes
 *                      0       data of array[0] - 4 bytes behind array[0]
 *                      29      padding: to the page's end if the delta is 0, else array[0] bytes
 *                      30      time extend: array[0] is the delta's upper part
 *                      31      time stamp: array[0] is the upper part of the lower 59 bits of an absolute stamp
 * </pre>
 *
 * Sources: kernel/trace/ring_buffer.c (rb_event_length, rb_fix_abs_ts, ring_buffer_read_page) and
 * include/linux/ring_buffer.h.
 */
final class CpuStream {
    private static final int COMMIT_MASK = (1 << 27) - 1;
    private static final int MISSED_EVENTS = 1 << 31;
    private static final int MISSED_STORED = 1 << 30;
    private static final int TYPE_PADDING = 29;
    private static final int TYPE_TIME_EXTEND = 30;
    private static final int TYPE_TIME_STAMP = 31;
    private static final int DELTA_BITS = 27;
    private static final int DELTA_MASK = (1 << DELTA_BITS) - 1;
    /** An absolute stamp carries 59 bits; the upper 5 are those of the stamp before. */
    private static final long STAMP_UPPER = 0xf8L << 56;

    /** trace-cmd packs 10 pages into a chunk; a chunk that claims more than this many is damage. */
    private static final int MAX_CHUNK_PAGES = 64;

    /** The number of chunks in front of compressed data. */
    private static final int COUNT_SIZE = 4;

    private final FileBytes file;
    private final ImportStats stats;
    private final PageLayout layout;
    private final TimeScale scale;
    private final Chunks chunks;
    private final boolean compressed;
    private final int share;
    final int cpu;
    final String instance;

    /** Next byte of the file to read, and the end of this CPU's data as far as the file holds it. */
    private long next;

    private final long end;
    private boolean cut;
    private long chunksLeft = -1;

    private byte[] buffer = new byte[0];
    private int filled;
    private int page;
    private long bufferPosition;
    /** The chunk that the buffer holds one page of, where memory is too short for the whole. */
    private int lean;

    private int leanPacked;
    private int leanPage;

    private int limit;
    private int index;
    private boolean pageCut;
    private long stamp;
    private long lost;

    /** The current event. */
    private long time;

    private int dataAt;
    private int dataLength;

    /**
     * Data of one CPU.
     *
     * @param offset file offset of the data
     * @param size bytes there
     * @param share bytes of memory this CPU may keep; one page is kept in any case
     */
    CpuStream(
            FileBytes file,
            ImportStats stats,
            PageLayout layout,
            TimeScale scale,
            Chunks chunks,
            boolean compressed,
            int share,
            int cpu,
            String instance,
            long offset,
            long size) {
        this.file = file;
        this.stats = stats;
        this.layout = layout;
        this.scale = scale;
        this.chunks = chunks;
        this.compressed = compressed;
        this.share = Math.max(share, layout.pageSize());
        this.cpu = cpu;
        this.instance = instance;
        // trace-cmd 3.1 does not count the chunk count in the size it writes
        long told = compressed && size >= 0 && size <= file.size() ? size + COUNT_SIZE : size;
        boolean within = offset >= 0 && size >= 0 && offset <= file.size() && size <= file.size() - offset;
        next = within ? offset : Math.max(0, Math.min(offset, file.size()));
        end = within ? Math.min(file.size(), offset + told) : file.size();
        cut = !within;
    }

    long time() {
        return time;
    }

    byte[] buffer() {
        return buffer;
    }

    int dataAt() {
        return dataAt;
    }

    int dataLength() {
        return dataLength;
    }

    /** File offset of the event, or of the chunk that holds it. */
    long position() {
        return compressed ? bufferPosition : bufferPosition + dataAt;
    }

    /** Events missing before the current one: 0, a number, or {@link TraceEvent#LOST_UNKNOWN}. */
    long lost() {
        return lost;
    }

    void lostDelivered() {
        lost = 0;
    }

    /** Whether the file ends before this CPU's data do. */
    boolean cut() {
        return cut;
    }

    /**
     * Moves to the next event.
     *
     * @return false at the end; marks of lost events may still be pending then
     */
    boolean advance() throws IOException {
        boolean big = layout.bigEndian();
        while (true) {
            while (index + 4 <= limit) {
                byte[] bytes = buffer;
                int at = page + layout.dataOffset() + index;
                int header = Bytes.int32(bytes, at, big);
                int type = big ? header >>> DELTA_BITS : header & 0x1f;
                int delta = big ? header & DELTA_MASK : header >>> 5;
                if (type >= 1 && type < TYPE_PADDING) {
                    int length = type * 4;
                    if (length + 4 > limit - index) {
                        endPage("data", length);
                        break;
                    }
                    stamp += delta;
                    index += 4 + length;
                    found(at + 4, length);
                    return true;
                }
                if (type == TYPE_PADDING && delta == 0) {
                    index = limit;
                    break;
                }
                if (limit - index < 8) {
                    endPage("an event header of 8", limit - index);
                    break;
                }
                int word = Bytes.int32(bytes, at + 4, big);
                if (type == TYPE_TIME_EXTEND) {
                    stamp += ((word & 0xffff_ffffL) << DELTA_BITS) + delta;
                    index += 8;
                } else if (type == TYPE_TIME_STAMP) {
                    stamp = absolute(((word & 0xffff_ffffL) << DELTA_BITS) + delta);
                    index += 8;
                } else {
                    // array[0] counts itself
                    int length = word > 0 ? (word + 3) & ~3 : word;
                    if (length < 4 || length > limit - index - 4) {
                        endPage("a length of 4 to " + (limit - index - 4), word);
                        break;
                    }
                    index += 4 + length;
                    if (type == TYPE_PADDING) {
                        // a discarded event; one without a delta got 1 to tell it from the page's end
                        stamp += delta == 1 ? 0 : delta;
                    } else {
                        stamp += delta;
                        found(at + 8, length - 4);
                        return true;
                    }
                }
            }
            if (pageCut || !nextPage()) {
                dataLength = 0;
                return false;
            }
        }
    }

    private void found(int at, int length) {
        dataAt = at;
        dataLength = length;
        time = scale.time(stamp, cpu);
    }

    private long absolute(long lower) {
        long upper = stamp & STAMP_UPPER;
        if (upper == 0) {
            return lower;
        }
        long full = lower | upper;
        return Long.compareUnsigned(full, stamp) < 0 ? full + (1L << 59) : full;
    }

    /** An event runs over what the page holds: the file's end, or damage. */
    private void endPage(String expected, long found) {
        if (pageCut) {
            cut = true;
        } else {
            stats.malformed(
                    "offset 0x" + Long.toHexString(compressed ? bufferPosition : bufferPosition + page + index),
                    "ring-buffer event of CPU " + cpu + ": expected " + expected + " bytes within the page, found "
                            + found);
        }
        index = limit;
    }

    private boolean nextPage() throws IOException {
        while (true) {
            if (!(compressed ? loadCompressed() : loadPlain())) {
                return false;
            }
            int available = Math.min(layout.pageSize(), filled - page);
            if (available < layout.dataOffset()) {
                cut = true;
                return false;
            }
            int commit = Bytes.int32(
                    buffer,
                    // the flags and the size are in the low half of the long
                    page + layout.commitOffset() + (layout.bigEndian() ? layout.commitSize() - 4 : 0),
                    layout.bigEndian());
            int size = commit & COMMIT_MASK;
            if (size > layout.pageSize() - layout.dataOffset()) {
                stats.malformed(
                        "offset 0x" + Long.toHexString(compressed ? bufferPosition : bufferPosition + page),
                        "ring-buffer page of CPU " + cpu + ": expected a size of at most "
                                + (layout.pageSize() - layout.dataOffset()) + ", found " + size);
                continue;
            }
            pageCut = size > available - layout.dataOffset();
            limit = Math.min(size, available - layout.dataOffset());
            index = 0;
            if (pageCut) {
                cut = true;
            }
            stamp = Bytes.int64(buffer, page, layout.bigEndian());
            if ((commit & MISSED_EVENTS) != 0) {
                missed(commit, size, available);
            }
            return true;
        }
    }

    private void missed(int commit, int size, int available) {
        long count = TraceEvent.LOST_UNKNOWN;
        int at = layout.dataOffset() + size;
        if ((commit & MISSED_STORED) != 0 && at + layout.commitSize() <= available) {
            count = layout.commitSize() == 8
                    ? Bytes.int64(buffer, page + at, layout.bigEndian())
                    : Bytes.int32(buffer, page + at, layout.bigEndian());
            // a number that no buffer can lose is damage
            if (count <= 0) {
                count = TraceEvent.LOST_UNKNOWN;
            }
        }
        if (lost == 0) {
            lost = count;
        } else {
            lost = lost > 0 && count > 0 ? lost + count : TraceEvent.LOST_UNKNOWN;
        }
    }

    private boolean loadPlain() throws IOException {
        page += layout.pageSize();
        if (page < filled) {
            return true;
        }
        if (next >= end) {
            return false;
        }
        if (buffer.length == 0) {
            int pages = Math.max(1, Math.min(share, 1 << 16) / layout.pageSize());
            buffer = new byte[(int) Math.min((long) pages * layout.pageSize(), Math.max(16, end - next))];
        }
        bufferPosition = next;
        filled = file.read(next, buffer, 0, (int) Math.min(buffer.length, end - next));
        next += filled;
        page = 0;
        return filled > 0;
    }

    private boolean loadCompressed() throws IOException {
        if (chunksLeft < 0) {
            byte[] count = new byte[COUNT_SIZE];
            if (end - next < COUNT_SIZE || file.read(next, count, 0, COUNT_SIZE) < COUNT_SIZE) {
                cut = cut || next < end;
                chunksLeft = 0;
                return false;
            }
            next += COUNT_SIZE;
            chunksLeft = Bytes.int32(count, 0, layout.bigEndian()) & 0xffff_ffffL;
        } else if (lean > 0) {
            leanPage += layout.pageSize();
            if (leanPage < lean && loadLean()) {
                return true;
            }
            lean = 0;
        } else if (page + layout.pageSize() < filled) {
            page += layout.pageSize();
            return true;
        }
        byte[] header = new byte[8];
        while (chunksLeft > 0) {
            chunksLeft--;
            if (end - next < 8 || file.read(next, header, 0, 8) < 8) {
                cut = true;
                chunksLeft = 0;
                return false;
            }
            long packed = Bytes.int32(header, 0, layout.bigEndian()) & 0xffff_ffffL;
            long plain = Bytes.int32(header, 4, layout.bigEndian()) & 0xffff_ffffL;
            long at = next + 8;
            if (packed > end - at) {
                cut = true;
                chunksLeft = 0;
                return false;
            }
            next = at + packed;
            bufferPosition = at;
            if (load((int) packed, plain, at)) {
                return true;
            }
            stats.malformed(
                    "offset 0x" + Long.toHexString(at),
                    "expected a compressed chunk of " + packed + " bytes that holds " + plain + " of CPU " + cpu
                            + ", found it damaged");
        }
        return false;
    }

    private boolean load(int packed, long plain, long at) throws IOException {
        if (plain > (long) MAX_CHUNK_PAGES * layout.pageSize() || packed > 2 * plain + 1024) {
            return false;
        }
        page = 0;
        if (plain > share) {
            lean = (int) plain;
            leanPacked = packed;
            leanPage = 0;
            if (loadLean()) {
                return true;
            }
            lean = 0;
            return false;
        }
        if (buffer.length < plain) {
            buffer = new byte[(int) plain];
        }
        filled = chunks.decompress(at, packed, buffer, (int) plain);
        return filled == plain && filled > 0;
    }

    /** Decompresses the chunk again and keeps the page that is due. */
    private boolean loadLean() throws IOException {
        byte[] plain = chunks.plain(lean);
        if (chunks.decompress(bufferPosition, leanPacked, plain, lean) != lean) {
            return false;
        }
        if (buffer.length < layout.pageSize()) {
            buffer = new byte[layout.pageSize()];
        }
        filled = Math.min(layout.pageSize(), lean - leanPage);
        System.arraycopy(plain, leanPage, buffer, 0, filled);
        page = 0;
        return true;
    }
}
