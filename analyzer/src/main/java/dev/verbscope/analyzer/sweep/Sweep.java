package dev.verbscope.analyzer.sweep;

import dev.verbscope.kmodel.scenario.CostFigures;
import dev.verbscope.kmodel.scenario.CostStudy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs a scenario over batch sizes and depths and finds the knee: the smallest batch from which on doubling it saves less
 * than {@link #KNEE_PERCENT} % of the CPU time of a WR.
 */
public final class Sweep {
    /** What a doubling of the batch must save to be worth it, in percent of the CPU time of a WR. */
    public static final double KNEE_PERCENT = 5;

    /** Doorbells that are tried for {@link #sensitivity}, in ns; the article says tens to hundreds (4.3). */
    private static final List<Integer> DOORBELLS = List.of(0, 60, 120, 250, 500);

    /** What the consumer does with a completion, in ns. */
    private static final List<Integer> HANDLERS = List.of(100, 250, 500, 1000);

    private static final List<Integer> BATCHES = List.of(1, 2, 4, 8, 16, 32, 64);

    private Sweep() {}

    /** Runs every batch at every depth; a batch larger than the depth is left out. */
    public static List<SweepRow> run(CostStudy study, List<Integer> batches, List<Integer> depths) throws IOException {
        List<SweepRow> rows = new ArrayList<>();
        for (int depth : depths) {
            List<SweepRow> of = new ArrayList<>();
            double first = 0;
            for (CostStudy.Point point :
                    study.sweep(batches.stream().sorted().distinct().toList(), List.of(depth))) {
                CostFigures f = point.figures();
                if (of.isEmpty()) {
                    first = f.cpuNanosPerWr();
                }
                of.add(new SweepRow(
                        point.batch(),
                        depth,
                        f.cpuNanosPerWr(),
                        first == 0 ? 0 : 100 * (1 - f.cpuNanosPerWr() / first),
                        f.wrsPerSecondPerCore(),
                        f.messagesPerSecond(),
                        f.delayP50Nanos(),
                        f.delayP99Nanos(),
                        f.rnrs(),
                        false));
            }
            int knee = knee(of);
            if (knee >= 0) {
                of.set(knee, of.get(knee).atKnee());
            }
            rows.addAll(of);
        }
        return rows;
    }

    /** Place of the knee in rows of one depth by rising batch, -1 if each step still saves enough. */
    static int knee(List<SweepRow> rows) {
        for (int i = 0; i + 1 < rows.size(); i++) {
            SweepRow here = rows.get(i);
            SweepRow next = rows.get(i + 1);
            double doublings = Math.log((double) next.batch() / here.batch()) / Math.log(2);
            double saved = 100 * (1 - next.cpuNanosPerWr() / here.cpuNanosPerWr()) / doublings;
            if (saved < KNEE_PERCENT) {
                return i;
            }
        }
        return -1;
    }

    /**
     * What the article's two figures come to with other costs.
     *
     * @param doorbellNanos what a doorbell takes
     * @param handleNanos what the consumer does with one completion
     * @param savedBySixteen percent of CPU time saved by batches of 16 against single posts
     * @param knee batch at the knee, 0 if it is beyond 64
     */
    public record Sensitivity(int doorbellNanos, int handleNanos, double savedBySixteen, int knee) {
        /** Whether about 30 % are saved: 25 to 35. */
        public boolean savesAsTheArticle() {
            return savedBySixteen >= 25 && savedBySixteen <= 35;
        }

        /** Whether the knee lies between 8 and 16. */
        public boolean kneeAsTheArticle() {
            return knee >= 8 && knee <= 16;
        }
    }

    /** Tries the article's claims (4.3: knee between 8 and 16; about 30 % by batches of 16) with other costs. */
    public static List<Sensitivity> sensitivity(CostStudy study, int depth) throws IOException {
        List<Sensitivity> out = new ArrayList<>();
        for (int doorbell : DOORBELLS) {
            for (int handler : HANDLERS) {
                List<SweepRow> rows = run(
                        study.with("costs.doorbell_ns", Integer.toString(doorbell))
                                .with("costs.handle_ns", Integer.toString(handler)),
                        BATCHES,
                        List.of(depth));
                double saved = 0;
                int knee = 0;
                for (SweepRow row : rows) {
                    saved = row.batch() == 16 ? row.savedPercent() : saved;
                    knee = row.knee() ? row.batch() : knee;
                }
                out.add(new Sensitivity(doorbell, handler, saved, knee));
            }
        }
        return out;
    }
}
