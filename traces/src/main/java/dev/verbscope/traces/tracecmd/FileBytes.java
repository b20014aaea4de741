package dev.verbscope.traces.tracecmd;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** Positioned reads of a file of any size. Not mapped: a map ends at 2 GiB and faults when the file shrinks. */
final class FileBytes implements Closeable {
    private final FileChannel channel;
    private final long size;
    private final @Nullable Path spooled;

    private FileBytes(FileChannel channel, @Nullable Path spooled) throws IOException {
        this.channel = channel;
        this.size = channel.size();
        this.spooled = spooled;
    }

    static FileBytes open(Path path) throws IOException {
        return new FileBytes(FileChannel.open(path, StandardOpenOption.READ), null);
    }

    /** A temporary file, deleted on close. */
    static FileBytes openSpooled(Path path) throws IOException {
        return new FileBytes(FileChannel.open(path, StandardOpenOption.READ), path);
    }

    long size() {
        return size;
    }

    /** Reads up to {@code length} bytes; fewer only at the file's end. */
    int read(long position, byte[] into, int offset, int length) throws IOException {
        int done = 0;
        while (done < length && position + done < size) {
            int n = channel.read(ByteBuffer.wrap(into, offset + done, length - done), position + done);
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
        if (spooled != null) {
            Files.deleteIfExists(spooled);
        }
    }
}
