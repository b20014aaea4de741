package dev.verbscope.traces.perf;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import java.io.Closeable;
import java.nio.ByteBuffer;

/**
 * The records inside of COMPRESSED and COMPRESSED2 records: pieces of one zstd stream, cut wherever a piece was full,
 * so that a record may begin in one and end in the next. Output is made as it is asked for; a few bytes that stand for
 * gigabytes take no more memory than others.
 */
final class RecordInflater implements Closeable {
    /** More than one record of the largest size at each end. */
    private static final int WINDOW = 1 << 18;

    private static final int PIECE = 1 << 16;

    private final ZstdDecompressCtx context = new ZstdDecompressCtx();
    private final ByteBuffer source = ByteBuffer.allocateDirect(PIECE);
    private final ByteBuffer target = ByteBuffer.allocateDirect(PIECE);
    private final byte[] window = new byte[WINDOW];
    private int pos;
    private int end;
    private long position;
    /** The last call filled the target: there may be more inside of the context. */
    private boolean full;

    RecordInflater() {
        source.limit(0);
    }

    /** Takes the compressed bytes of one record; those before must be used up. */
    void feed(byte[] b, int from, int size, long recordOffset) {
        source.clear();
        source.put(b, from, size);
        source.flip();
        position = recordOffset;
    }

    byte[] window() {
        return window;
    }

    int at() {
        return pos;
    }

    /** Bytes that no record was made of yet. */
    int buffered() {
        return end - pos;
    }

    /** File offset of the compressed record that was fed last. */
    long position() {
        return position;
    }

    void advance(int n) {
        pos += n;
    }

    /**
     * Makes the next bytes available.
     *
     * @return false if what was fed does not hold them
     * @throws ZstdException if the stream is damaged; {@link #reset} then
     */
    boolean require(int n) {
        while (end - pos < n) {
            if (WINDOW - end < PIECE) {
                System.arraycopy(window, pos, window, 0, end - pos);
                end -= pos;
                pos = 0;
            }
            // zstd takes repeated calls that cannot get anywhere for an error
            if (!source.hasRemaining() && !full) {
                return false;
            }
            int before = source.remaining();
            target.clear();
            context.decompressDirectByteBufferStream(target, source);
            target.flip();
            int made = target.remaining();
            full = made == PIECE;
            if (made == 0 && source.remaining() == before) {
                return false;
            }
            target.get(window, end, made);
            end += made;
        }
        return true;
    }

    /** Forgets everything: what is fed next must begin a stream. */
    void reset() {
        context.reset();
        full = false;
        source.limit(0);
        pos = 0;
        end = 0;
    }

    @Override
    public void close() {
        context.close();
    }
}
