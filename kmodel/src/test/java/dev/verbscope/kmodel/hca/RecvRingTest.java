package dev.verbscope.kmodel.hca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class RecvRingTest {
    /** Random posts, doorbells, consumption and clearing against two plain queues. */
    @Property
    void behavesAsTwoQueues(
            @ForAll @IntRange(min = 1, max = 9) int depth,
            @ForAll boolean freedByPoll,
            @ForAll @Size(max = 400) List<@IntRange(min = 0, max = 9) Integer> steps) {
        RecvRing ring = new RecvRing(depth, 2, freedByPoll);
        Deque<Long> unannounced = new ArrayDeque<>();
        Deque<Long> announced = new ArrayDeque<>();
        int unpolled = 0;
        long next = 0;
        for (int step : steps) {
            int used = unannounced.size() + announced.size() + (freedByPoll ? unpolled : 0);
            assertThat(ring.hasSpace()).isEqualTo(used < depth);
            if (step <= 4) {
                if (ring.hasSpace()) {
                    assertThat(ring.producerIndex()).isBetween(0, depth - 1);
                    ring.begin(next, 1);
                    ring.segment(0, next * 3, (int) next, 7);
                    ring.advance();
                    unannounced.add(next++);
                }
            } else if (step <= 6) {
                ring.doorbell(ring.doorbellValue(), ring.generation());
                announced.addAll(unannounced);
                unannounced.clear();
            } else if (step <= 8) {
                if (ring.visible() > 0) {
                    long id = announced.remove();
                    assertThat(ring.wrId()).isEqualTo(id);
                    assertThat(ring.sges()).isEqualTo(1);
                    assertThat(ring.sgeAddr(0)).isEqualTo(id * 3);
                    assertThat(ring.sgeLength(0)).isEqualTo((int) id);
                    ring.consume();
                    unpolled++;
                }
            } else if (unpolled > 0) {
                ring.polled();
                unpolled--;
            }
            assertThat(ring.visible()).isEqualTo(announced.size());
            assertThat(ring.queued()).isEqualTo(announced.size() + unannounced.size());
        }
    }

    @Test
    void theDoorbellsSixteenBitsWrap() {
        RecvRing ring = new RecvRing(1000, 1, false);
        for (int round = 0; round < 200; round++) {
            for (int i = 0; i < 1000; i++) {
                assertThat(ring.hasSpace()).isTrue();
                ring.begin(i, 0);
                ring.advance();
            }
            assertThat(ring.hasSpace()).isFalse();
            assertThat(ring.visible()).isZero();
            ring.doorbell(ring.doorbellValue(), ring.generation());
            assertThat(ring.visible()).isEqualTo(1000);
            for (int i = 0; i < 1000; i++) {
                ring.consume();
            }
        }
    }

    @Test
    void aDoorbellFromBeforeAClearAnnouncesNothing() {
        RecvRing ring = new RecvRing(8, 1, false);
        ring.begin(1, 0);
        ring.advance();
        int value = ring.doorbellValue();
        int generation = ring.generation();
        ring.clear();
        ring.begin(2, 0);
        ring.advance();
        ring.doorbell(value, generation);
        assertThat(ring.visible()).isZero();
    }

    @Test
    void aRingOfNoSlotsIsFull() {
        assertThat(new RecvRing(0, 0, false).hasSpace()).isFalse();
    }

    @Test
    void depthIsChecked() {
        assertThatThrownBy(() -> new RecvRing(-1, 1, false)).hasMessageContaining("0 to 32768");
        assertThatThrownBy(() -> new RecvRing(32769, 1, false)).hasMessageContaining("0 to 32768");
    }
}
