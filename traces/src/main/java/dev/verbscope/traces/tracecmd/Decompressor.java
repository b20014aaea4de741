package dev.verbscope.traces.tracecmd;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import java.io.Closeable;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** The compressions of trace.dat version 7. */
interface Decompressor extends Closeable {
    /**
     * Decompresses one block.
     *
     * @return bytes written to {@code to}, at most {@code toLength}; -1 if the block is damaged
     */
    int decompress(byte[] from, int fromLength, byte[] to, int toLength);

    @Override
    void close();

    /** zlib streams (RFC 1950). */
    final class Zlib implements Decompressor {
        private final Inflater inflater = new Inflater();

        @Override
        public int decompress(byte[] from, int fromLength, byte[] to, int toLength) {
            inflater.reset();
            inflater.setInput(from, 0, fromLength);
            int done = 0;
            try {
                while (done < toLength && !inflater.finished()) {
                    int n = inflater.inflate(to, done, toLength - done);
                    if (n == 0) {
                        break;
                    }
                    done += n;
                }
            } catch (DataFormatException e) {
                return -1;
            }
            return done;
        }

        @Override
        public void close() {
            inflater.end();
        }
    }

    /** Zstandard frames, which trace-cmd writes without the content size. */
    final class Zstd implements Decompressor {
        private final ZstdDecompressCtx context = new ZstdDecompressCtx();

        @Override
        public int decompress(byte[] from, int fromLength, byte[] to, int toLength) {
            try {
                return context.decompressByteArray(to, 0, toLength, from, 0, fromLength);
            } catch (ZstdException e) {
                return -1;
            }
        }

        @Override
        public void close() {
            context.close();
        }
    }
}
