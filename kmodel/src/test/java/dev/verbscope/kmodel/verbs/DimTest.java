package dev.verbscope.kmodel.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DimTest {
    private long now = 1_000_000;

    /** One decision: 64 runs at so many completions a run and nanoseconds a run. */
    private boolean window(Dim dim, int completions, long nanos) {
        boolean changed = false;
        for (int i = 0; i < 64; i++) {
            now += nanos;
            changed |= dim.sample(now, completions);
        }
        return changed;
    }

    @Test
    void itWalksOnWhileTheRateGrowsAndTurnsWhenItFalls() {
        Dim dim = new Dim();
        assertThat(dim.micros()).isEqualTo(1);
        assertThat(dim.completions()).isEqualTo(1);
        assertThat(window(dim, 4, 10_000)).isFalse();
        assertThat(window(dim, 8, 10_000)).isTrue();
        assertThat(dim.completions()).isEqualTo(4);
        assertThat(window(dim, 16, 10_000)).isTrue();
        assertThat(dim.micros()).isEqualTo(2);
        assertThat(window(dim, 8, 10_000)).isTrue();
        assertThat(dim.micros()).isEqualTo(1);
        assertThat(dim.completions()).isEqualTo(4);
    }

    @Test
    void aSteadyRateLeavesItWhereItIs() {
        Dim dim = new Dim();
        for (int i = 0; i < 20; i++) {
            assertThat(window(dim, 3, 5_000)).isFalse();
        }
    }

    @Test
    void theProfilesAreThoseOfTheKernel() {
        Dim dim = new Dim();
        StringBuilder met = new StringBuilder("1/1");
        int completions = 1;
        window(dim, completions, 100_000);
        for (int i = 0; i < 8; i++) {
            completions *= 2;
            window(dim, completions, 100_000);
            met.append(' ').append(dim.micros()).append('/').append(dim.completions());
        }
        assertThat(met).hasToString("1/1 1/4 2/4 2/8 4/8 16/8 16/16 32/16 32/32");
    }
}
