package dev.verbscope.traces.tracecmd;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** What the CPUs of one file share when their data are compressed: the decompressor and its scratch arrays. */
final class Chunks {
    private final FileBytes file;
    private final @Nullable Decompressor decompressor;
    private byte[] packed = new byte[0];
    private byte[] plain = new byte[0];

    Chunks(FileBytes file, @Nullable Decompressor decompressor) {
        this.file = file;
        this.decompressor = decompressor;
    }

    /** Scratch space of at least this size. */
    byte[] plain(int size) {
        if (plain.length < size) {
            plain = new byte[size];
        }
        return plain;
    }

    /** Decompresses a chunk of the file; -1 if it is damaged or the file ends in it. */
    int decompress(long position, int packedSize, byte[] into, int size) throws IOException {
        if (packed.length < packedSize) {
            packed = new byte[packedSize];
        }
        if (decompressor == null || file.read(position, packed, 0, packedSize) < packedSize) {
            return -1;
        }
        return decompressor.decompress(packed, packedSize, into, size);
    }
}
