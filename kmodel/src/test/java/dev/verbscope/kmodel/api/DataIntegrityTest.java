package dev.verbscope.kmodel.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.sim.DeterministicRandom;
import dev.verbscope.kmodel.verbs.Access;
import dev.verbscope.kmodel.verbs.DmaSpace;
import dev.verbscope.kmodel.verbs.IbAh;
import dev.verbscope.kmodel.verbs.IbGrh;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.WcOpcode;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrOpcode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/**
 * Random traffic: what the receiver has is what the sender sent, or the loss is one that the transport allows. The lower
 * half of each buffer is for messages and the upper half for writes, reads and atomics.
 */
class DataIntegrityTest {
    private static final int ALL = Access.LOCAL_WRITE | Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC;
    private static final int SLOT = 256;
    private static final int SLOTS = 16;
    private static final int UPPER = SLOT * SLOTS;
    private static final int QKEY = 0x1ee7;

    @Provide
    Arbitrary<DmaSpace.Kind> kinds() {
        return Arbitraries.of(DmaSpace.Kind.class);
    }

    @Provide
    Arbitrary<Long> seeds() {
        return Arbitraries.longs();
    }

    private static byte[] bytes(DeterministicRandom random, int n) {
        byte[] out = new byte[n];
        for (int i = 0; i < n; i++) {
            out[i] = (byte) random.nextLong();
        }
        return out;
    }

    /** Cuts a piece into up to four, some of them empty. */
    private static IbSge[] split(DeterministicRandom random, Pair.End end, int offset, int length) {
        int n = (int) random.between(1, 4);
        int[] cuts = new int[n + 1];
        for (int i = 1; i < n; i++) {
            cuts[i] = (int) random.between(0, length);
        }
        cuts[n] = length;
        Arrays.sort(cuts);
        IbSge[] out = new IbSge[n];
        for (int i = 0; i < n; i++) {
            out[i] = end.sge(offset + cuts[i], cuts[i + 1] - cuts[i]);
        }
        return out;
    }

    private static Pair pair(DmaSpace.Kind kind, boolean coherent, int loss) {
        Pair p = new Pair(KernelProfiles.ARTICLE_PASSTHROUGH, "article", kind, coherent);
        p.fabric.lose(loss);
        return p;
    }

    /** Reliable connection: everything arrives, in order, whatever the wire loses. */
    @Property(tries = 60)
    void aReliableConnectionDoesEachThingOnceAndInOrder(
            @ForAll("seeds") long seed,
            @ForAll("kinds") DmaSpace.Kind kind,
            @ForAll boolean coherent,
            @ForAll @IntRange(max = 50) int loss) {
        DeterministicRandom random = new DeterministicRandom(seed);
        Pair p = pair(kind, coherent, loss);
        Pair.Link link = p.link(QpType.RC, ALL);
        byte[] shadow = bytes(random, Pair.BUFFER - UPPER);
        link.b.put(UPPER, shadow);
        List<byte[]> sent = new ArrayList<>();
        int received = 0;
        for (int round = 0; round < 40; round++) {
            switch ((int) random.between(0, 4)) {
                case 0 -> {
                    int length = (int) random.between(0, SLOT);
                    byte[] data = bytes(random, length);
                    link.a.put(0, data);
                    sent.add(data);
                    link.b.recv(received, split(random, link.b, received % SLOTS * SLOT, length));
                    link.a.send(WrOpcode.SEND, round, split(random, link.a, 0, length));
                    p.run();
                    assertThat(link.b.bytes(received % SLOTS * SLOT, length)).isEqualTo(data);
                    received++;
                }
                case 1 -> {
                    int length = (int) random.between(0, SLOT);
                    int at = (int) random.between(0, shadow.length - length);
                    byte[] data = bytes(random, length);
                    link.a.put(0, data);
                    System.arraycopy(data, 0, shadow, at, length);
                    link.a.post(IbSendWr.of(WrOpcode.RDMA_WRITE, round, split(random, link.a, 0, length))
                            .to(link.b.dma + UPPER + at, link.b.mr.rkey));
                }
                case 2 -> {
                    int length = (int) random.between(0, SLOT);
                    int at = (int) random.between(0, shadow.length - length);
                    link.a.post(IbSendWr.of(WrOpcode.RDMA_READ, round, split(random, link.a, SLOT, length))
                            .to(link.b.dma + UPPER + at, link.b.mr.rkey));
                    p.run();
                    assertThat(link.a.bytes(SLOT, length)).isEqualTo(Arrays.copyOfRange(shadow, at, at + length));
                }
                case 3 -> {
                    int at = (int) random.between(0, shadow.length / 8 - 1) * 8;
                    ByteBuffer cell = ByteBuffer.wrap(shadow, at, 8).order(ByteOrder.LITTLE_ENDIAN);
                    long before = cell.getLong(at);
                    IbSendWr wr = IbSendWr.of(WrOpcode.ATOMIC_FETCH_AND_ADD, round, link.a.sge(3 * SLOT, 8))
                            .to(link.b.dma + UPPER + at, link.b.mr.rkey);
                    wr.compareAdd = random.nextLong();
                    cell.putLong(at, before + wr.compareAdd);
                    link.a.post(wr);
                    p.run();
                    assertThat(ByteBuffer.wrap(link.a.bytes(3 * SLOT, 8))
                                    .order(ByteOrder.LITTLE_ENDIAN)
                                    .getLong())
                            .isEqualTo(before);
                }
                default -> {
                    int at = (int) random.between(0, shadow.length / 8 - 1) * 8;
                    ByteBuffer cell = ByteBuffer.wrap(shadow, at, 8).order(ByteOrder.LITTLE_ENDIAN);
                    long before = cell.getLong(at);
                    IbSendWr wr = IbSendWr.of(WrOpcode.ATOMIC_CMP_AND_SWP, round, link.a.sge(3 * SLOT, 8))
                            .to(link.b.dma + UPPER + at, link.b.mr.rkey);
                    wr.compareAdd = random.between(0, 1) == 0 ? before : before + 1;
                    wr.swap = random.nextLong();
                    cell.putLong(at, wr.compareAdd == before ? wr.swap : before);
                    link.a.post(wr);
                }
            }
            p.run();
        }
        assertThat(link.b.bytes(UPPER, shadow.length)).isEqualTo(shadow);
        assertThat(link.a.statuses()).hasSize(40).containsOnly(WcStatus.SUCCESS);
        List<IbWc> got = link.b.poll();
        assertThat(got)
                .extracting(w -> w.byteLen)
                .containsExactlyElementsOf(sent.stream().map(d -> d.length).toList());
        assertThat(link.b.m.faults()).isEmpty();
        assertThat(link.a.m.faults()).isEmpty();
    }

    /** Unreliable connection: a message is there whole or not at all, in order, and the sender hears nothing of it. */
    @Property(tries = 60)
    void anUnreliableConnectionLosesWholeMessagesOnly(
            @ForAll("seeds") long seed, @ForAll("kinds") DmaSpace.Kind kind, @ForAll @IntRange(max = 600) int loss) {
        DeterministicRandom random = new DeterministicRandom(seed);
        Pair p = pair(kind, true, loss);
        Pair.Link link = p.link(QpType.UC, ALL);
        List<byte[]> sent = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            link.b.recv(i, split(random, link.b, i * SLOT, SLOT));
        }
        p.run();
        byte[] mark = new byte[SLOT];
        Arrays.fill(mark, (byte) 0x55);
        for (int i = 0; i < SLOTS; i++) {
            link.b.put(UPPER + i * SLOT, mark);
        }
        List<byte[]> written = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            int length = (int) random.between(0, SLOT);
            byte[] data = bytes(random, length);
            sent.add(data);
            link.a.put(0, data);
            IbSendWr wr = IbSendWr.of(WrOpcode.SEND_WITH_IMM, i, split(random, link.a, 0, length));
            wr.immData = i;
            link.a.post(wr);
            p.run();
            byte[] whole = bytes(random, SLOT);
            written.add(whole);
            link.a.put(0, whole);
            link.a.post(IbSendWr.of(WrOpcode.RDMA_WRITE, i, split(random, link.a, 0, SLOT))
                    .to(link.b.dma + UPPER + (long) i * SLOT, link.b.mr.rkey));
            p.run();
        }
        int last = -1;
        int slot = 0;
        for (IbWc wc : link.b.poll()) {
            assertThat(wc.status).isEqualTo(WcStatus.SUCCESS);
            assertThat(wc.ex).isGreaterThan(last);
            last = wc.ex;
            assertThat(link.b.bytes(slot * SLOT, wc.byteLen)).isEqualTo(sent.get(wc.ex));
            slot++;
        }
        int there = 0;
        for (int i = 0; i < SLOTS; i++) {
            byte[] now = link.b.bytes(UPPER + i * SLOT, SLOT);
            boolean arrived = Arrays.equals(now, written.get(i));
            there += arrived ? 1 : 0;
            assertThat(arrived || Arrays.equals(now, mark)).isTrue();
        }
        assertThat((long) slot + there + p.fabric.lost()).isEqualTo(2L * SLOTS);
        assertThat(link.a.statuses()).hasSize(2 * SLOTS).containsOnly(WcStatus.SUCCESS);
    }

    /** Datagrams: 40 bytes and then what was sent, from the one that sent it. */
    @Property(tries = 60)
    void aDatagramIsThereBehindItsHeaderOrNotAtAll(
            @ForAll("seeds") long seed, @ForAll("kinds") DmaSpace.Kind kind, @ForAll @IntRange(max = 600) int loss) {
        DeterministicRandom random = new DeterministicRandom(seed);
        Pair p = pair(kind, true, loss);
        Pair.Link link = p.link(QpType.UD, ALL);
        IbAh ah = p.a.api.ahs.ibCreateAh(link.a.pd, p.b.way());
        int posted = (int) random.between(0, SLOTS);
        for (int i = 0; i < posted; i++) {
            link.b.recv(i, split(random, link.b, i * SLOT, SLOT));
        }
        p.run();
        List<byte[]> sent = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            int length = (int) random.between(0, SLOT - IbGrh.BYTES);
            byte[] data = bytes(random, length);
            sent.add(data);
            link.a.put(0, data);
            IbSendWr wr = IbSendWr.of(WrOpcode.SEND_WITH_IMM, i, split(random, link.a, 0, length))
                    .to(ah, link.b.qp.qpNum, QKEY);
            wr.immData = i;
            link.a.post(wr);
            p.run();
        }
        int slot = 0;
        for (IbWc wc : link.b.poll()) {
            assertThat(wc.opcode).isEqualTo(WcOpcode.RECV);
            assertThat(wc.srcQp).isEqualTo(link.a.qp.qpNum);
            byte[] data = sent.get(wc.ex);
            assertThat(wc.byteLen).isEqualTo(IbGrh.BYTES + data.length);
            assertThat(link.b.bytes(slot * SLOT + IbGrh.BYTES, data.length)).isEqualTo(data);
            assertThat(IbGrh.parse(link.b.bytes(slot * SLOT, IbGrh.BYTES)).sgid())
                    .isEqualTo(p.a.gid());
            slot++;
        }
        // whatever is not there was lost on the wire or met an empty queue
        assertThat(slot + p.fabric.lost() + p.b.drops().size()).isEqualTo(SLOTS);
        assertThat(link.a.statuses()).hasSize(SLOTS).containsOnly(WcStatus.SUCCESS);
    }

    /** The receive buffer's first byte behind the message is never touched, and a short buffer errs. */
    @Property(tries = 60)
    void nothingIsWrittenBehindTheBuffers(
            @ForAll("seeds") long seed, @ForAll @IntRange(min = 0, max = 256) int length) {
        DeterministicRandom random = new DeterministicRandom(seed);
        Pair p = pair(DmaSpace.Kind.DIRECT, true, 0);
        Pair.Link link = p.link(QpType.RC, ALL);
        int room = (int) random.between(0, SLOT);
        byte[] mark = new byte[2 * SLOT];
        Arrays.fill(mark, (byte) 0x55);
        link.b.put(0, mark);
        link.b.recv(1, split(random, link.b, 0, room));
        byte[] data = bytes(random, length);
        link.a.put(0, data);
        link.a.send(WrOpcode.SEND, 1, split(random, link.a, 0, length));
        p.run();
        boolean fits = length <= room;
        assertThat(link.b.statuses()).containsExactly(fits ? WcStatus.SUCCESS : WcStatus.LOC_LEN_ERR);
        byte[] now = link.b.bytes(0, 2 * SLOT);
        int reach = Math.min(length, room);
        assertThat(Arrays.copyOf(now, reach)).isEqualTo(Arrays.copyOf(data, reach));
        assertThat(Arrays.copyOfRange(now, reach, now.length)).containsOnly((byte) 0x55);
    }
}
