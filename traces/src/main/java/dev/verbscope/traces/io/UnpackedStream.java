package dev.verbscope.traces.io;

import com.github.luben.zstd.ZstdIOException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZIOException;

/**
 * Plain bytes of a compressed input. Damage ends the stream where it is met: what lies before it is good and the reader
 * behind this one delivers it.
 */
final class UnpackedStream extends InputStream {
    private final InputStream packed;
    private final Compression compression;
    private @Nullable InputStream plain;
    private @Nullable String damage;

    UnpackedStream(InputStream packed, Compression compression) {
        this.packed = packed;
        this.compression = compression;
    }

    /** What is wrong with the compressed bytes, null if nothing is so far. */
    @Nullable
    String damage() {
        return damage;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (damage != null) {
            return -1;
        }
        try {
            InputStream decoder = plain;
            if (decoder == null) {
                decoder = compression.decoder(packed);
                plain = decoder;
            }
            return decoder.read(into, offset, length);
        } catch (EOFException e) {
            damage = "ends in the middle";
        } catch (ZipException | XZIOException | ZstdIOException e) {
            damage = "is damaged: " + e.getMessage();
        }
        return -1;
    }

    @Override
    public void close() throws IOException {
        InputStream decoder = plain;
        try (packed) {
            if (decoder != null) {
                decoder.close();
            }
        }
    }
}
