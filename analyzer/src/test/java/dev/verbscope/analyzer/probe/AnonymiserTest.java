package dev.verbscope.analyzer.probe;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnonymiserTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "src=10.0.0.1:4420 dst=10.0.0.2:43110 tos=0 | src=192.0.2.1:4420 dst=192.0.2.2:43110 tos=0",
                "peer=[10.0.0.1]:20049 cq.id=6 | peer=[192.0.2.1]:20049 cq.id=6",
                "peer=[fe80::5054:ff:fe12:3456]:20049 | peer=[2001:db8::1]:20049",
                "dgid=fe80:0000:0000:0000:5054:00ff:fe12:3456 | dgid=2001:db8::1",
                "mac 52:54:00:12:34:56 up | mac 02-00-00-00-00-01 up",
                "qp=0xffff8d7304ae1800 wr_id=18446618836786790400 ret=-12 | qp=0xffff8d7304ae1800 wr_id=18446618836786790400 ret=-12",
                "post_recv: (rxe_post_recv+0x0/0xf0 [rdma_rxe]) n=1 | post_recv: (rxe_post_recv+0x0/0xf0 [rdma_rxe]) n=1",
            })
    void addressesGoAndTheRestStays(String from, String to) {
        assertThat(new Anonymiser().addresses(from)).isEqualTo(to);
    }

    @Test
    void theSameOneIsTheSameOneEverywhere() {
        Anonymiser anonymiser = new Anonymiser();
        String first = anonymiser.traceLine(
                "     secret app-1 [000] ..... 25.402800: cm_send_req: src=10.0.0.1:1 dst=10.0.0.2:2");
        String second = anonymiser.traceLine(
                "     secret app-1 [000] ..... 25.402900: cm_send_req: src=10.0.0.2:1 dst=10.0.0.1:2");
        assertThat(first).isEqualTo("     task1-1 [000] ..... 25.402800: cm_send_req: src=192.0.2.1:1 dst=192.0.2.2:2");
        assertThat(second)
                .isEqualTo("     task1-1 [000] ..... 25.402900: cm_send_req: src=192.0.2.2:1 dst=192.0.2.1:2");
        String kernel = "    kworker/1:1-35      [001] .....    25.402800: cq_free: cq.id=1";
        assertThat(anonymiser.traceLine(kernel)).isEqualTo(kernel);
        assertThat(anonymiser.traceLine("# tracer: nop")).isEqualTo("# tracer: nop");
    }
}
