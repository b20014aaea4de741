package dev.verbscope.analyzer.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class WrListTest {
    /** Any sequence of posts and removals, with few ids so that they repeat, behaves like a plain list. */
    @Property
    void behavesLikeAList(@ForAll @Size(max = 300) List<@IntRange(min = -8, max = 8) Integer> steps) {
        WrList list = new WrList();
        List<long[]> model = new ArrayList<>(); // id, sequence
        long sequence = 0;
        for (int step : steps) {
            long id = Math.abs(step);
            if (step >= 0) {
                list.add(id, 0, 1, 0, 0, 0, 0, 0, 0, 0, "", "");
                model.add(new long[] {id, sequence++});
            } else {
                int record = list.find(id);
                int at = -1;
                for (int i = 0; i < model.size() && at < 0; i++) {
                    at = model.get(i)[0] == id ? i : -1;
                }
                if (at < 0) {
                    assertThat(record).isEqualTo(WrList.NONE);
                } else {
                    assertThat(list.sequence(record)).isEqualTo(model.get(at)[1]);
                    list.remove(record);
                    model.remove(at);
                }
            }
            assertThat(list.size()).isEqualTo(model.size());
            int record = list.oldest();
            for (long[] expected : model) {
                assertThat(list.wrId(record)).isEqualTo(expected[0]);
                assertThat(list.sequence(record)).isEqualTo(expected[1]);
                record = list.next(record);
            }
            assertThat(record).isEqualTo(WrList.NONE);
        }
    }
}
