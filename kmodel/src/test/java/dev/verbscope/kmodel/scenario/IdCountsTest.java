package dev.verbscope.kmodel.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

class IdCountsTest {
    @Property(tries = 200)
    void countsAsAMapDoes(@ForAll @Size(max = 2000) List<@LongRange(min = -300, max = 300) Long> steps) {
        IdCounts counts = new IdCounts();
        Map<Long, Integer> reference = new HashMap<>();
        for (long step : steps) {
            long id = Math.abs(step) << 40;
            if (step >= 0) {
                assertThat(counts.add(id)).isEqualTo(reference.merge(id, 1, Integer::sum));
            } else {
                int had = reference.getOrDefault(id, 0);
                assertThat(counts.remove(id)).isEqualTo(had > 0);
                reference.put(id, Math.max(0, had - 1));
            }
        }
    }
}
