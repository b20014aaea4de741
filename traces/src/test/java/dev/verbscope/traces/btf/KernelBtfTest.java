package dev.verbscope.traces.btf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Offsets of real kernels against KERNEL_FACTS.md section 3.5, all of them. Runs with {@code -Dverbscope.btf=DIR}, a
 * folder of {@code 6.1-vmlinux.btf}, {@code 6.1-ib_core.btf}, {@code 6.12-vmlinux.btf} and so on.
 */
@Tag("btf")
class KernelBtfTest {
    /** Structure, its size, then members with their offsets; {@code a/b} where 6.1 and 6.12 differ. */
    private static final String[] FACTS = {
        "ib_recv_wr 32 next 0 wr_id 8 wr_cqe 8 sg_list 16 num_sge 24",
        "ib_sge 16 addr 0 length 8 lkey 12",
        "ib_send_wr 40 next 0 wr_id 8 sg_list 16 num_sge 24 opcode 28 send_flags 32 ex.imm_data 36",
        "ib_wc 72 wr_id 0 wr_cqe 0 status 8 opcode 12 vendor_err 16 byte_len 20 qp 24 ex 32 src_qp 36 slid 40 wc_flags 44"
                + " pkey_index 48 sl 50 dlid_path_bits 51 port_num 52 smac 56 vlan_id 62 network_hdr_type 64",
        "ib_cqe 8 done 0",
        "ib_cq 224 device 0 uobject 8 comp_handler 16 event_handler 24 cq_context 32 cqe 40 cqe_used 44 usecnt 48"
                + " poll_ctx 52 wc 56 pool_entry 64 iop 80 work 80 comp_wq 120 dim 128 timestamp 136 interrupt 144 shared 144"
                + " comp_vector 148 res 152 res.id 216",
        "ib_qp 296/336 device 0 pd 8 send_cq 16 recv_cq 24 mr_lock 32 mrs_used 36 rdma_mrs 40 sig_mrs 56 srq 72"
                + " srq_completion -/80 xrcd 80/112 usecnt 104/136 open_list 112/144 real_qp 128/160 uobject 136/168"
                + " event_handler 144/176 registered_event_handler -/184 qp_context 152/192 av_sgid_attr 160/200"
                + " alt_path_sgid_attr 168/208 qp_num 176/216 max_write_sge 180/220 max_read_sge 184/224 qp_type 188/228"
                + " rwq_ind_tbl 192/232 qp_sec 200/240 port 208/248 integrity_en 212/252 res 216/256 res.id 280/320"
                + " counter 288/328",
        "ib_srq 144 device 0 pd 8 uobject 16 event_handler 24 srq_context 32 srq_type 40 usecnt 44 ext 48 res 72",
        "ib_pd 112 local_dma_lkey 0 flags 4 device 8 uobject 16 usecnt 24 unsafe_global_rkey 28 __internal_mr 32 res 40",
        "rdma_restrack_entry 72 valid 0 kref 4 comp 8 task 40 kern_name 48 type 56 user 60 id 64",
        "ib_device * dma_device 0 ops 8 name 1048/1080",
        "ib_device_ops * driver_id 8 post_send 40 post_recv 48 drain_rq 56 drain_sq 64 poll_cq 72 req_notify_cq 88"
                + " post_srq_recv 96",
    };

    static BtfFolder kernel(String release) throws IOException {
        String given = System.getProperty("verbscope.btf", "");
        assumeTrue(!given.isEmpty(), "no -Dverbscope.btf=DIR");
        Path folder = Files.createTempDirectory("btf");
        try (var files = Files.list(Path.of(given))) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String name = String.valueOf(file.getFileName());
                if (name.startsWith(release + "-")) {
                    Files.createSymbolicLink(
                            folder.resolve(name.substring(release.length() + 1)), file.toAbsolutePath());
                }
            }
        }
        return new BtfFolder(folder);
    }

    @ParameterizedTest
    @CsvSource({
        "6.1,ib_core",
        "6.1,rdma_rxe",
        "6.1,mlx5_ib",
        "6.1,mlx4_ib",
        "6.1,irdma",
        "6.1,rdmavt",
        "6.12,ib_core",
        "6.12,rdma_rxe",
        "6.12,mlx5_ib",
        "6.12,mlx4_ib",
        "6.12,irdma",
        "6.12,rdmavt",
        "6.12,bnxt_re"
    })
    void offsetsAreThoseOfTheFacts(String release, String module) throws IOException {
        Btf btf = kernel(release).open(module);
        boolean newer = release.equals("6.12");
        int compared = 0;
        for (String fact : FACTS) {
            String[] words = fact.split(" ", -1);
            // a module that never looks into a structure has only its name
            if (btf.sizeOf(words[0]) < 0) {
                assertThat(module).isNotEqualTo("ib_core");
                continue;
            }
            if (!words[1].equals("*")) {
                assertThat(btf.sizeOf(words[0])).as(words[0]).isEqualTo(value(words[1], newer));
                compared++;
            }
            for (int i = 2; i < words.length; i += 2) {
                Btf.Member member = btf.member(words[0], words[i]);
                int offset = member == null ? -1 : member.offset();
                assertThat(offset).as(words[0] + "." + words[i]).isEqualTo(value(words[i + 1], newer));
                compared++;
            }
        }
        System.out.println(release + " " + module + ": " + compared + " offsets and sizes equal");
        assertThat(compared).isGreaterThan(100);
    }

    private static int value(String text, boolean newer) {
        int slash = text.indexOf('/');
        String value = slash < 0 ? text : newer ? text.substring(slash + 1) : text.substring(0, slash);
        return value.equals("-") ? -1 : Integer.parseInt(value);
    }

    @ParameterizedTest
    @CsvSource({
        "6.1,rdma_rxe,rxe_post_recv,ibqp wr bad_wr",
        "6.12,rdma_rxe,rxe_post_recv,ibqp wr bad_wr",
        "6.12,rdma_rxe,rxe_poll_cq,ibcq num_entries wc",
        "6.12,irdma,irdma_post_recv,ibqp ib_wr bad_wr",
        "6.12,bnxt_re,bnxt_re_post_recv,ib_qp wr bad_wr",
        "6.12,rdmavt,rvt_poll_cq,ibcq num_entries entry",
    })
    void parametersAreThoseOfTheFacts(String release, String module, String function, String names) throws IOException {
        assertThat(kernel(release).open(module).parameters(function))
                .isNotNull()
                .extracting(Btf.Parameter::name)
                .containsExactly(names.split(" ", -1));
    }

    @Test
    void damagedRealDataNeverCrash() throws IOException {
        BtfFolder folder = kernel("6.1");
        Btf base = folder.open("vmlinux");
        byte[] good = Files.readAllBytes(folder.path().resolve("rdma_rxe.btf"));
        Random random = new Random(7);
        int refused = 0;
        for (int round = 0; round < 2000; round++) {
            byte[] bytes = good.clone();
            for (int i = 0; i < 1 + round % 20; i++) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            try {
                Btf btf = Btf.parseSplit("rdma_rxe", bytes, base);
                Btf.Member member = btf.member("ib_qp", "qp_num");
                if (member != null) {
                    assertThat(member.offset()).isNotNegative();
                }
                btf.member("rxe_cqe", "ibwc.qp");
                btf.parameters("rxe_post_recv");
            } catch (TraceFormatException e) {
                refused++;
            }
        }
        System.out.println("damaged: 2000 read, " + refused + " refused");
        assertThat(refused).isBetween(1, 1999);
    }
}
