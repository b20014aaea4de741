package dev.verbscope.analyzer.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.verbs.IbEventType;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The kernel's enumerations stand in the analyzer, which knows numbers, and in the model: they are the same. */
class NamesTest {
    @Test
    void statuses() {
        dev.verbscope.kmodel.verbs.WcStatus[] all = dev.verbscope.kmodel.verbs.WcStatus.values();
        assertThat(WcStatus.count()).isEqualTo(all.length);
        assertThat(all).allSatisfy(s -> assertThat(WcStatus.name(s.number())).isEqualTo(s.name()));
    }

    @Test
    void states() {
        assertThat(Arrays.stream(dev.verbscope.kmodel.verbs.QpState.values()).map(s -> QpState.name(s.number())))
                .containsExactly("RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR");
        assertThat(QpState.ERR).isEqualTo(dev.verbscope.kmodel.verbs.QpState.ERR.number());
    }

    @Test
    void events() {
        assertThat(IbEventType.values())
                .allSatisfy(e -> assertThat(AsyncEvent.name(e.number())).isEqualTo(e.name()));
    }
}
