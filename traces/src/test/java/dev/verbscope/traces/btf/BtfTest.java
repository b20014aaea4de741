package dev.verbscope.traces.btf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BtfTest {
    private static Btf module(byte[][] kernel) throws TraceFormatException {
        return Btf.parseSplit("rdma_rxe", kernel[1], Btf.parse("vmlinux", kernel[0]));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void findsMembersThroughNamesAnonymousUnionsAndModifiers(boolean little) throws IOException {
        Btf btf = module(BtfBuilder.kernel(little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN));
        assertThat(offset(btf, "ib_qp", "qp_num")).isEqualTo(216);
        assertThat(offset(btf, "ib_qp", "res.id")).isEqualTo(256 + 64);
        assertThat(offset(btf, "ib_qp", "open_list.prev")).isEqualTo(144 + 8);
        assertThat(offset(btf, "ib_recv_wr", "wr_id")).isEqualTo(8);
        assertThat(offset(btf, "ib_recv_wr", "wr_cqe")).isEqualTo(8);
        assertThat(offset(btf, "list_head", "prev")).isEqualTo(8);
        assertThat(btf.sizeOf("ib_recv_wr")).isEqualTo(32);
        assertThat(btf.sizeOf("list_head")).isEqualTo(16);
        Btf.Member shared = btf.member("ib_flags", "shared");
        assertThat(shared).isEqualTo(new Btf.Member(1, 1, "unsigned int", false));
        Btf.Member cqe = btf.member("ib_recv_wr", "wr_cqe");
        assertThat(cqe).isEqualTo(new Btf.Member(64, 0, "struct ib_cqe *", true));
    }

    @Test
    void hasNoAnswerForWhatIsNotThere() throws IOException {
        Btf btf = module(BtfBuilder.kernel(ByteOrder.LITTLE_ENDIAN));
        assertThat(btf.member("ib_qp", "nothing")).isNull();
        assertThat(btf.member("ib_qp", "qp_num.id")).isNull();
        assertThat(btf.member("ib_qp", "")).isNull();
        assertThat(btf.member("no_such", "qp_num")).isNull();
        assertThat(btf.sizeOf("no_such")).isEqualTo(-1);
        assertThat(btf.parameters("ib_qp")).isNull();
        Btf vmlinux = Btf.parse("vmlinux", BtfBuilder.kernel(ByteOrder.LITTLE_ENDIAN)[0]);
        assertThat(vmlinux.member("ib_qp", "qp_num")).isNull();
    }

    @Test
    void namesParameters() throws IOException {
        Btf btf = module(BtfBuilder.kernel(ByteOrder.LITTLE_ENDIAN));
        assertThat(btf.parameters("rxe_post_recv"))
                .containsExactly(
                        new Btf.Parameter("ibqp", "struct ib_qp *"),
                        new Btf.Parameter("wr", "const struct ib_recv_wr *"),
                        new Btf.Parameter("bad_wr", "const struct ib_recv_wr **"));
    }

    @Test
    void saysWhatIsWrong(@TempDir Path folder) throws IOException {
        byte[] good = BtfBuilder.kernel(ByteOrder.LITTLE_ENDIAN)[0];
        byte[] version = good.clone();
        version[2] = 9;
        byte[] kind = good.clone();
        kind[24 + 7] = 31;
        byte[] longTypes = good.clone();
        longTypes[14] = 1;
        assertThatThrownBy(() -> Btf.parse("x", new byte[3])).hasMessageContaining("expected BTF with a header");
        assertThatThrownBy(() -> Btf.parse("x", new byte[99])).hasMessageContaining("expected the BTF magic");
        assertThatThrownBy(() -> Btf.parse("x", version)).hasMessageContaining("expected BTF version 1, found 9");
        assertThatThrownBy(() -> Btf.parse("x", kind))
                .hasMessage("x: offset 0x18: expected a kind of type from 1 to 19, found 31");
        assertThatThrownBy(() -> Btf.parse("x", longTypes)).hasMessageContaining("the header speaks of types up to");
        BtfFolder btf = new BtfFolder(folder);
        assertThatThrownBy(() -> btf.open("vmlinux")).hasMessageContaining("expected a file vmlinux or vmlinux.btf");
        Files.write(folder.resolve("ib_core"), BtfBuilder.kernel(ByteOrder.LITTLE_ENDIAN)[1]);
        assertThatThrownBy(() -> btf.open("ib_core")).hasMessageContaining("vmlinux");
        Files.write(folder.resolve("vmlinux.btf"), good);
        assertThat(offset(btf.open("ib_core"), "ib_qp", "qp_num")).isEqualTo(216);
        assertThat(btf.has("ib_core")).isTrue();
        assertThat(btf.has("mlx5_ib")).isFalse();
    }

    /** A union that holds itself, many times over: a search that follows all of them would not end. */
    @Test
    void endsOnTypesThatHoldThemselves() throws IOException {
        BtfBuilder builder = new BtfBuilder(ByteOrder.LITTLE_ENDIAN);
        Object[] members = new Object[3 * 20];
        for (int i = 0; i < members.length; i += 3) {
            members[i] = "";
            members[i + 1] = 1;
            members[i + 2] = 0;
        }
        builder.union("loop", 8, members);
        int self = builder.type("self", 8, 0, 2);
        builder.struct("s", 8, "a", self, 0);
        Btf btf = Btf.parse("loop", builder.build());
        assertThat(btf.member("loop", "x")).isNull();
        assertThat(btf.member("s", "a.b")).isNull();
    }

    /** No offset outside its structure, whatever byte is wrong. */
    @Test
    void survivesEveryFlippedByteAndEveryCut() {
        byte[][] kernel = BtfBuilder.kernel(ByteOrder.LITTLE_ENDIAN);
        Random random = new Random(1);
        for (int part = 0; part < 2; part++) {
            for (int at = 0; at < kernel[part].length; at++) {
                byte[][] damaged = {kernel[0], kernel[1]};
                damaged[part] = kernel[part].clone();
                damaged[part][at] ^= (byte) (1 + random.nextInt(255));
                ask(damaged[0], damaged[1]);
                damaged[part] = Arrays.copyOf(kernel[part], at);
                ask(damaged[0], damaged[1]);
            }
        }
    }

    @Property(tries = 500)
    void survivesAnyBytesBehindAHeader(@ForAll @Size(max = 200) byte[] junk) {
        byte[] good = BtfBuilder.kernel(ByteOrder.LITTLE_ENDIAN)[0];
        byte[] bytes = Arrays.copyOf(good, 24 + junk.length);
        System.arraycopy(junk, 0, bytes, 24, junk.length);
        bytes[12] = (byte) (junk.length / 2);
        bytes[13] = 0;
        bytes[16] = (byte) (junk.length / 2);
        bytes[17] = 0;
        bytes[20] = (byte) (junk.length / 2);
        bytes[21] = 0;
        ask(bytes, bytes);
    }

    @FuzzTest
    void fuzz(byte[] data) {
        int cut = data.length / 2;
        ask(Arrays.copyOf(data, cut), Arrays.copyOfRange(data, cut, data.length));
        ask(data, data);
    }

    private static void ask(byte[] vmlinux, byte[] split) {
        try {
            Btf base = Btf.parse("vmlinux", vmlinux);
            Btf btf = Btf.parseSplit("module", split, base);
            for (String path : new String[] {"qp_num", "res.id", "open_list.prev", "wr_id"}) {
                Btf.Member member = btf.member("ib_qp", path);
                if (member != null) {
                    assertThat(member.offset()).isNotNegative();
                }
            }
            btf.member("ib_recv_wr", "wr_id");
            btf.member("ib_flags", "shared");
            btf.parameters("rxe_post_recv");
        } catch (TraceFormatException e) {
            assertThat(e).hasMessageMatching("(?s)(vmlinux|module): .*(expected|takes|speaks).*");
        }
    }

    private static int offset(Btf btf, String struct, String path) {
        Btf.Member member = btf.member(struct, path);
        return member == null ? -1 : member.offset();
    }
}
