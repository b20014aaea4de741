package dev.verbscope.traces.tracecmd;

import dev.verbscope.traces.binary.Bytes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * From a guest's clock to its host's: for each CPU, samples of the difference between the two. A recorder that was told of
 * the host writes them as the option TIME_SHIFT (12) of trace-cmd.dat.v7(5), and {@code trace-cmd report} shows the
 * host's time.
 */
final class TimeShift {
    private static final int MAX_CPUS = 1 << 16;
    private static final int INTERPOLATE = 1;

    private record Sample(long time, long offset, long scaling, int fraction) {}

    private final boolean interpolate;
    private final List<Sample[]> cpus;

    private TimeShift(boolean interpolate, List<Sample[]> cpus) {
        this.interpolate = interpolate;
        this.cpus = cpus;
    }

    /**
     * Reads the option; null if it is shorter than it says.
     *
     * @param data trace id (8 bytes), flags (4), CPUs (4); for each CPU the number of samples (4), their times, offsets and
     *     scalings (8 each); of newer recorders also, for each CPU, the bits behind the point of its scalings (8 each)
     */
    static @Nullable TimeShift of(byte[] data, boolean bigEndian) {
        if (data.length < 16) {
            return null;
        }
        boolean interpolate = (Bytes.int32(data, 8, bigEndian) & INTERPOLATE) != 0;
        int count = Bytes.int32(data, 12, bigEndian);
        if (count < 0 || count > MAX_CPUS) {
            return null;
        }
        List<long[]> values = new ArrayList<>();
        int at = 16;
        int total = 0;
        for (int cpu = 0; cpu < count; cpu++) {
            int samples = data.length - at < 4 ? -1 : Bytes.int32(data, at, bigEndian);
            if (samples < 0 || samples > (data.length - at - 4) / 24) {
                return null;
            }
            values.add(longs(data, at + 4, 3 * samples, bigEndian));
            at += 4 + 24 * samples;
            total += samples;
        }
        boolean fractions = data.length - at >= 8 * total;
        List<Sample[]> cpus = new ArrayList<>();
        for (long[] v : values) {
            int n = v.length / 3;
            Sample[] samples = new Sample[n];
            for (int i = 0; i < n; i++) {
                int fraction = fractions ? (int) Bytes.int64(data, at + 8 * i, bigEndian) & 63 : 0;
                samples[i] = new Sample(v[i], v[n + i], v[2 * n + i], fraction);
            }
            at += fractions ? 8 * n : 0;
            cpus.add(inOrder(samples));
        }
        return new TimeShift(interpolate, cpus);
    }

    private static long[] longs(byte[] data, int at, int count, boolean bigEndian) {
        long[] values = new long[count];
        for (int i = 0; i < count; i++) {
            values[i] = Bytes.int64(data, at + 8 * i, bigEndian);
        }
        return values;
    }

    /** By time, and of several of one time the first. */
    private static Sample[] inOrder(Sample[] samples) {
        List<Sample> kept = new ArrayList<>();
        List<Sample> sorted = new ArrayList<>(List.of(samples));
        sorted.sort(Comparator.comparingLong(Sample::time));
        for (Sample sample : sorted) {
            if (kept.isEmpty() || kept.get(kept.size() - 1).time != sample.time) {
                kept.add(sample);
            }
        }
        return kept.toArray(new Sample[0]);
    }

    /** The host's stamp for a guest's; the same where nothing is known of the CPU. */
    long host(long stamp, int cpu) {
        Sample[] samples = cpu >= 0 && cpu < cpus.size() ? cpus.get(cpu) : new Sample[0];
        if (samples.length == 0) {
            return stamp;
        }
        if (samples.length == 1) {
            return stamp + samples[0].offset;
        }
        int low = 0;
        int high = samples.length - 2;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (samples[middle].time <= stamp) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Sample from = samples[low];
        Sample to = samples[low + 1];
        long offset = from.offset;
        if (interpolate) {
            long span = to.time - from.time;
            offset += ((stamp - from.time) * (to.offset - from.offset) + span / 2) / span;
        }
        return ((stamp * from.scaling) >>> from.fraction) + offset;
    }
}
