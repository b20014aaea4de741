package dev.verbscope.analyzer.diff;

import dev.verbscope.analyzer.diff.Difference.Kind;
import dev.verbscope.analyzer.diff.Difference.Weight;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.report.QueueFigures;
import dev.verbscope.analyzer.timeline.Metric;
import dev.verbscope.analyzer.timeline.QueueSeries;
import dev.verbscope.analyzer.timeline.Timeline;
import dev.verbscope.traces.event.TraceInfo;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Batch sizes and rates of a queue in two captures, against what they vary inside each: the time in which the queue was
 * active is cut into windows, and a difference of the means counts if it is larger than the windows' spread allows.
 */
final class Pace {
    private static final int WINDOWS = 8;
    private static final long FEWEST_CALLS = 40;
    private static final double LEAST_CHANGE = 0.1;

    /** Two-sided 99 % of Student's t with 7 degrees of freedom, as there are eight windows. */
    private static final double T = 3.5;

    private Pace() {}

    private record Spread(double mean, double error) {}

    static void compare(
            CaptureSide a, CaptureSide b, ReceiveQueue qa, ReceiveQueue qb, String who, List<Difference> differences) {
        QueueSeries sa = a.timeline().of(qa);
        QueueSeries sb = b.timeline().of(qb);
        if (sa == null || sb == null) {
            return;
        }
        batch(a, b, qa, qb, sa, sb, who, differences);
        if (a.report().capture().info().timeUnit() != TraceInfo.TimeUnit.NANOSECONDS
                || b.report().capture().info().timeUnit() != TraceInfo.TimeUnit.NANOSECONDS) {
            return;
        }
        rate(a, b, sa, sb, Metric.CALLS, "post calls a second", who, differences);
        rate(a, b, sa, sb, Metric.RECEIVED, "receives a second", who, differences);
    }

    private static void batch(
            CaptureSide a,
            CaptureSide b,
            ReceiveQueue qa,
            ReceiveQueue qb,
            QueueSeries sa,
            QueueSeries sb,
            String who,
            List<Difference> differences) {
        double meanA = new QueueFigures(a.report().capture(), qa).meanWrsPerCall();
        double meanB = new QueueFigures(b.report().capture(), qb).meanWrsPerCall();
        if (meanA == 0 || meanB == 0) {
            return;
        }
        boolean constant = qa.wrsPerCall().size() == 1 && qb.wrsPerCall().size() == 1;
        if (constant) {
            if (meanA != meanB) {
                add(
                        differences,
                        Kind.BATCH,
                        who,
                        "WRs a call",
                        text(meanA) + " in every call",
                        text(meanB) + " in every call",
                        percent(meanA, meanB));
            }
            return;
        }
        Spread spreadA = spread(sa, bin -> sa.count(Metric.WRS, bin), bin -> sa.count(Metric.CALLS, bin), 1);
        Spread spreadB = spread(sb, bin -> sb.count(Metric.WRS, bin), bin -> sb.count(Metric.CALLS, bin), 1);
        if (spreadA == null || spreadB == null) {
            return;
        }
        if (exceeds(meanA, spreadA.error, meanB, spreadB.error)) {
            add(
                    differences,
                    Kind.BATCH,
                    who,
                    "WRs a call",
                    noise(meanA, spreadA),
                    noise(meanB, spreadB),
                    percent(meanA, meanB));
        }
    }

    private static void rate(
            CaptureSide a,
            CaptureSide b,
            QueueSeries sa,
            QueueSeries sb,
            Metric metric,
            String what,
            String who,
            List<Difference> differences) {
        Spread ofA = spread(sa, bin -> sa.count(metric, bin), bin -> 1, seconds(a.timeline()));
        Spread ofB = spread(sb, bin -> sb.count(metric, bin), bin -> 1, seconds(b.timeline()));
        if (sa.total(metric) < FEWEST_CALLS || sb.total(metric) < FEWEST_CALLS || ofA == null || ofB == null) {
            return;
        }
        if (exceeds(ofA.mean, ofA.error, ofB.mean, ofB.error)) {
            add(
                    differences,
                    Kind.PACE,
                    who,
                    what,
                    noise(ofA.mean, ofA),
                    noise(ofB.mean, ofB),
                    percent(ofA.mean, ofB.mean));
        }
    }

    private static double seconds(Timeline timeline) {
        return timeline.binWidth() / 1e9;
    }

    private static boolean exceeds(double meanA, double errorA, double meanB, double errorB) {
        double by = Math.abs(meanA - meanB);
        return by > T * Math.sqrt(errorA * errorA + errorB * errorB)
                && by > LEAST_CHANGE * Math.max(Math.abs(meanA), Math.abs(meanB));
    }

    @FunctionalInterface
    private interface PerBin {
        long of(int bin);
    }

    /** Mean and standard error of a ratio over eight windows between the queue's first and last call or receive. */
    private static @Nullable Spread spread(QueueSeries series, PerBin over, PerBin under, double unit) {
        int first = -1;
        int last = -1;
        for (int bin = 0; bin < series.bins(); bin++) {
            if (series.count(Metric.CALLS, bin) + series.count(Metric.RECEIVED, bin) > 0) {
                first = first < 0 ? bin : first;
                last = bin;
            }
        }
        if (first < 0 || last - first + 1 < 2 * WINDOWS) {
            return null;
        }
        double[] values = new double[WINDOWS];
        int n = 0;
        for (int w = 0; w < WINDOWS; w++) {
            int from = first + (last - first + 1) * w / WINDOWS;
            int to = first + (last - first + 1) * (w + 1) / WINDOWS;
            long top = 0;
            long bottom = 0;
            for (int bin = from; bin < to; bin++) {
                top += over.of(bin);
                bottom += under.of(bin);
            }
            if (bottom > 0) {
                values[n++] = top / (bottom * unit);
            }
        }
        if (n < WINDOWS / 2) {
            return null;
        }
        double mean = 0;
        for (int i = 0; i < n; i++) {
            mean += values[i] / n;
        }
        double variance = 0;
        for (int i = 0; i < n; i++) {
            variance += (values[i] - mean) * (values[i] - mean) / (n - 1);
        }
        return new Spread(mean, Math.sqrt(variance / n));
    }

    private static String text(double value) {
        return value >= 100 ? Long.toString(Math.round(value)) : String.format(Locale.ROOT, "%.2f", value);
    }

    private static String noise(double mean, Spread spread) {
        return text(mean) + " (uncertain by " + text(T * spread.error) + ")";
    }

    private static String percent(double from, double to) {
        double change = (to / from - 1) * 100;
        return String.format(Locale.ROOT, "%+.0f %%", change);
    }

    private static void add(
            List<Difference> differences, Kind kind, String who, String what, String a, String b, String change) {
        boolean batch = kind == Kind.BATCH;
        differences.add(new Difference(
                kind,
                batch ? Weight.CHANGES : Weight.NOTE,
                who,
                what + ": " + change + ", more than either capture varies in itself",
                a,
                b,
                batch
                        ? "Each call pays for its lock and, with a driver that has one, its doorbell."
                        : "Another load or machine gives another pace as well: compare runs of the same load."));
    }
}
