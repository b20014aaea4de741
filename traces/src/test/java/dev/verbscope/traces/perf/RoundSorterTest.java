package dev.verbscope.traces.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class RoundSorterTest {
    private record Item(long time, int number) {}

    @Property(tries = 300)
    void releasesAStableSort(@ForAll @Size(max = 400) List<@IntRange(max = 60) Integer> times) {
        RoundSorter sorter = new RoundSorter(2);
        List<Item> expected = new ArrayList<>();
        for (int i = 0; i < times.size(); i++) {
            add(sorter, times.get(i), i);
            expected.add(new Item(times.get(i), i));
        }
        expected.sort(Comparator.comparingLong(Item::time));
        sorter.releaseAll();
        assertThat(drain(sorter)).isEqualTo(expected);
    }

    @Property(tries = 300)
    void roundsThatOverlapByOneGiveASortedWhole(
            @ForAll @Size(max = 12) List<@Size(max = 30) List<@IntRange(max = 19) Integer>> rounds) {
        // round n holds times 10n to 10n + 19: it overlaps the next round and not the one after it
        RoundSorter sorter = new RoundSorter(2);
        List<Item> got = new ArrayList<>();
        int number = 0;
        for (int r = 0; r < rounds.size(); r++) {
            for (int t : rounds.get(r)) {
                add(sorter, 10L * r + t, number++);
            }
            sorter.finishRound();
            got.addAll(drain(sorter));
        }
        sorter.releaseAll();
        got.addAll(drain(sorter));
        assertThat(got).hasSize(number).isSortedAccordingTo(Comparator.comparingLong(Item::time));
    }

    @Test
    void memoryIsUsedAgainAndNeverExceeded() {
        RoundSorter sorter = new RoundSorter(3);
        int big = 65_536;
        long delivered = 0;
        for (int i = 0; i < 1000; i++) {
            int ref = sorter.allocate(big);
            if (ref < 0) {
                sorter.releaseHalf();
                List<Item> some = drain(sorter);
                assertThat(some).isNotEmpty();
                delivered += some.size();
                i--;
                continue;
            }
            Wire.LITTLE.put32(sorter.bytes(ref), RoundSorter.offset(ref), i);
            sorter.add(i, ref);
        }
        sorter.releaseAll();
        assertThat(delivered + drain(sorter).size()).isEqualTo(1000);
    }

    private static void add(RoundSorter sorter, long time, int number) {
        int ref = sorter.allocate(4);
        assertThat(ref).isNotNegative();
        Wire.LITTLE.put32(sorter.bytes(ref), RoundSorter.offset(ref), number);
        sorter.add(time, ref);
    }

    private static List<Item> drain(RoundSorter sorter) {
        List<Item> out = new ArrayList<>();
        while (sorter.hasNext()) {
            long time = sorter.nextTime();
            int ref = sorter.next();
            out.add(new Item(time, Wire.LITTLE.i32(sorter.bytes(ref), RoundSorter.offset(ref))));
            sorter.free(ref);
        }
        return out;
    }
}
