package dev.verbscope.traces.io;

import com.github.luben.zstd.ZstdInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZInputStream;

/** Compressions that any input may come in, told by its first bytes. */
enum Compression {
    /** RFC 1952; also several members one behind the other. */
    GZIP("1f8b") {
        @Override
        InputStream decoder(InputStream packed) throws IOException {
            return new GZIPInputStream(new NeverDry(packed), BUFFER);
        }
    },
    /** The .xz format; concatenated streams and padding are read. */
    XZ("fd377a585a00") {
        @Override
        InputStream decoder(InputStream packed) throws IOException {
            return new XZInputStream(packed, XZ_MEMORY_KIB);
        }
    },
    /** RFC 8878; the library allows windows of up to 128 MiB. */
    ZSTD("28b52ffd") {
        @Override
        InputStream decoder(InputStream packed) throws IOException {
            return new ZstdInputStream(packed);
        }
    };

    private static final int BUFFER = 1 << 16;
    /** xz -9 needs 65 MiB to unpack; a header that asks for more than this is not obeyed. */
    private static final int XZ_MEMORY_KIB = 100 << 10;

    /** First bytes, in hexadecimal. */
    private final String magic;

    Compression(String magic) {
        this.magic = magic;
    }

    /** The compression that an input begins with, null if it is none of these. */
    static @Nullable Compression of(Head head) {
        for (Compression compression : values()) {
            if (head.startsWithHex(compression.magic)) {
                return compression;
            }
        }
        return null;
    }

    /** The plain bytes. Memory does not depend on their number. */
    abstract InputStream decoder(InputStream packed) throws IOException;

    /** {@link GZIPInputStream} looks for a further member only while bytes are available, which a pipe may deny. */
    private static final class NeverDry extends FilterInputStream {
        NeverDry(InputStream in) {
            super(in);
        }

        @Override
        public int available() throws IOException {
            return Math.max(1, super.available());
        }
    }
}
