package dev.verbscope.analyzer.chart;

import dev.verbscope.analyzer.timeline.Metric;
import dev.verbscope.analyzer.timeline.QueueSeries;
import dev.verbscope.analyzer.timeline.Timeline;
import java.util.List;

/** The bins of a timeline as the columns of a picture: each is one or several bins. */
final class Columns {
    /** Events that the busiest column should hold, so that a rate is more than one event over a short time. */
    private static final int ENOUGH = 12;

    /** Columns there are at least, however few events. */
    private static final int FEWEST = 64;

    private final ChartSource source;
    private final int perColumn;
    private final int count;
    private final Units.TimeScale scale;

    private Columns(ChartSource source, int perColumn, Units.TimeScale scale) {
        this.source = source;
        this.scale = scale;
        this.perColumn = perColumn;
        count = columns(source, perColumn);
    }

    private static int columns(ChartSource source, int perColumn) {
        return (source.timeline().bins() + perColumn - 1) / perColumn;
    }

    /** As fine as the timeline and the picture allow. */
    static Columns fine(ChartSource source, int most, Units.TimeScale scale) {
        int per = 1;
        while (columns(source, per) > most) {
            per *= 2;
        }
        return new Columns(source, per, scale);
    }

    /** Wide enough that the busiest one holds some events of these metrics. */
    static Columns forRates(
            ChartSource source, int most, Units.TimeScale scale, List<QueueSeries> queues, List<Metric> metrics) {
        Columns columns = fine(source, most, scale);
        while (columns.count > FEWEST && columns.busiest(queues, metrics) < ENOUGH) {
            columns = new Columns(source, columns.perColumn * 2, scale);
        }
        return columns;
    }

    private long busiest(List<QueueSeries> queues, List<Metric> metrics) {
        long most = 0;
        for (int column = 0; column < count; column++) {
            long sum = 0;
            for (QueueSeries queue : queues) {
                for (Metric metric : metrics) {
                    sum += count(queue, metric, column);
                }
            }
            most = Math.max(most, sum);
        }
        return most;
    }

    int count() {
        return count;
    }

    /** Width of a column in clock units. */
    long width() {
        return source.timeline().binWidth() * perColumn;
    }

    /** Left edge of a column on the time axis, which begins with the capture. */
    double start(int column) {
        return scale.of(source.lead() + (double) column * width());
    }

    /** Events of a bin as a rate: a second where the clock has seconds, else a thousand clock units. */
    private double rate(long n, long width) {
        return source.inNanoseconds() ? n * 1e9 / width : n * 1e3 / width;
    }

    /** The rate in a column, summed over queues. */
    double rate(List<QueueSeries> queues, Metric metric, int column) {
        long sum = 0;
        for (QueueSeries queue : queues) {
            sum += count(queue, metric, column);
        }
        return rate(sum, width());
    }

    /** How often something happened in a column. */
    long count(QueueSeries queue, Metric metric, int column) {
        long sum = 0;
        for (int bin = column * perColumn; bin < (column + 1) * perColumn; bin++) {
            sum += queue.count(metric, bin);
        }
        return sum;
    }

    /** The busiest window of a column as a rate a second; 0 where columns are hardly wider than such a window. */
    double peakRate(QueueSeries queue, int column) {
        if (!source.inNanoseconds() || source.timeline().binWidth() <= 2 * Timeline.PEAK_WINDOW) {
            return 0;
        }
        int most = 0;
        for (int bin = column * perColumn; bin < (column + 1) * perColumn; bin++) {
            most = Math.max(most, queue.peak(bin));
        }
        return rate(most, Timeline.PEAK_WINDOW);
    }

    /** Lowest and highest level of a queue in each column; a column without a change holds the level before it. */
    int[][] levels(QueueSeries queue) {
        int[] low = new int[count];
        int[] high = new int[count];
        int held = 0;
        for (int column = 0; column < count; column++) {
            int lowest = Integer.MAX_VALUE;
            int highest = -1;
            for (int bin = column * perColumn; bin < (column + 1) * perColumn; bin++) {
                if (queue.low(bin) >= 0) {
                    lowest = Math.min(lowest, queue.low(bin));
                    highest = Math.max(highest, queue.high(bin));
                    held = queue.last(bin);
                }
            }
            low[column] = highest < 0 ? held : lowest;
            high[column] = highest < 0 ? held : highest;
        }
        return new int[][] {low, high};
    }
}
