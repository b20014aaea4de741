package dev.verbscope.analyzer.sweep;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.scenario.CostStudy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The knee is where doubling stops to pay, and the article's figures come out for some costs and not for others. */
class SweepTest {
    private static final CostStudy STREAM = CostStudy.of(CostStudy.STEADY_STREAM, "", "");

    private static List<SweepRow> rows(double... cpu) {
        List<SweepRow> rows = new ArrayList<>();
        int batch = 1;
        for (double nanos : cpu) {
            rows.add(new SweepRow(batch, 64, nanos, 0, 0, 0, 0, 0, 0, false));
            batch *= 2;
        }
        return rows;
    }

    @Test
    void theKneeIsTheFirstBatchWhoseDoublingSavesLessThanFivePercent() {
        assertThat(Sweep.knee(rows(600, 500, 450, 430, 420))).isEqualTo(2);
        assertThat(Sweep.knee(rows(600, 500, 420, 350))).as("none yet").isEqualTo(-1);
        assertThat(Sweep.knee(rows(600))).isEqualTo(-1);
        // from 1 to 4 are two doublings: 8 % in all are 4 % each
        List<SweepRow> apart = new ArrayList<>(rows(600));
        apart.add(new SweepRow(4, 64, 552, 0, 0, 0, 0, 0, 0, false));
        assertThat(Sweep.knee(apart)).isZero();
    }

    @Test
    void savingsAreAgainstTheSmallestBatchOfTheDepth() throws IOException {
        List<SweepRow> rows = Sweep.run(STREAM, List.of(16, 1, 64), List.of(32, 1024));
        assertThat(rows)
                .extracting(SweepRow::batch)
                .as("64 does not fit into 32")
                .containsExactly(1, 16, 1, 16, 64);
        assertThat(rows.get(0).savedPercent()).isZero();
        assertThat(rows.get(2).savedPercent()).isZero();
        SweepRow sixteen = rows.get(3);
        assertThat(sixteen.savedPercent())
                .isEqualTo(100 * (1 - sixteen.cpuNanosPerWr() / rows.get(2).cpuNanosPerWr()));
        assertThat(sixteen.delayP99Nanos()).isGreaterThan(rows.get(2).delayP99Nanos());
    }

    @Test
    void theArticlesFiguresDependOnTheCosts() throws IOException {
        List<Sweep.Sensitivity> grid = Sweep.sensitivity(STREAM, 1024);
        assertThat(grid).anyMatch(s -> s.savesAsTheArticle() && s.kneeAsTheArticle());
        assertThat(grid).anyMatch(s -> !s.savesAsTheArticle() && !s.kneeAsTheArticle());
        Sweep.Sensitivity cheap = grid.get(0);
        Sweep.Sensitivity dear = grid.get(grid.size() - 4);
        assertThat(cheap.doorbellNanos()).isZero();
        assertThat(dear.savedBySixteen())
                .as("a dearer doorbell, the same handler")
                .isGreaterThan(cheap.savedBySixteen() + 20);
        assertThat(dear.knee()).isGreaterThan(cheap.knee());
    }
}
