package dev.verbscope.kmodel.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelProfiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Records of what rxe does where several CPUs write them: lines come late, queues are many, chains are longer than their
 * lists, and senders wait. Each is equal as it stands, and differs where one outcome in it is another.
 */
class ReplayEdgesTest {
    @TempDir
    Path dir;

    private final List<String> lines = new ArrayList<>();

    @BeforeEach
    void begin() {
        step(10, "begin, kernel 6.1.0-50-amd64");
    }

    private void line(long t, String format, Object... values) {
        lines.add("{\"t\":" + t + "," + String.format(Locale.ROOT, format, values) + "}");
    }

    private void step(long t, String what) {
        line(t, "\"op\":\"step\",\"what\":\"%s\"", what);
    }

    private void pair(int number, int receiver, int wr, int sge, int srq) {
        step(
                20,
                String.format(
                        Locale.ROOT,
                        "pair %d: receiver qp_num %d sender qp_num %d max_recv_wr %d max_recv_sge %d srq %d",
                        number,
                        receiver,
                        receiver + 1,
                        wr,
                        sge,
                        srq));
    }

    private static String wrs(int first, int count, int sges) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < Math.min(count, 64); i++) {
            out.append(i == 0 ? "" : ",").append("\"0x").append(Long.toHexString(id(first + i)));
            out.append(':').append(sges).append('"');
        }
        return out.toString();
    }

    private static long id(int slot) {
        return 0x10000 + 0xd0L * slot;
    }

    /** A call that began 50 before its line. */
    private void post(long t, int qp, int first, int count, int ret, int bad) {
        call(t, "post_recv", qp, first, count, ret, bad);
    }

    private void call(long t, String op, int qp, int first, int count, int ret, int bad) {
        line(
                t,
                "\"op\":\"%s\",\"why\":\"x\",\"t0\":%d,\"qp\":%d,\"head\":\"0x%x\",\"n\":%d,\"ret\":%d,\"bad_index\":%d,\"wrs\":[%s]",
                op,
                t - 50,
                qp,
                id(first) + 8,
                count,
                ret,
                bad,
                wrs(first, count, 1));
    }

    private void send(long t, int qp) {
        line(t, "\"op\":\"post_send\",\"qp\":%d,\"len\":16,\"ret\":0", qp + 1);
    }

    private void received(long t, int qp, int slot, int status) {
        line(
                t,
                "\"op\":\"recv_done\",\"qp\":%d,\"wr_id\":\"0x%x\",\"status\":%d,\"byte_len\":%d",
                qp,
                id(slot),
                status,
                status == 0 ? 16 : 0);
    }

    private void sent(long t, int qp, int status) {
        line(t, "\"op\":\"send_done\",\"qp\":%d,\"status\":%d", qp + 1, status);
    }

    private ReplayResult replay(List<String> record, String driver) throws IOException {
        KernelProfile profile = KernelProfiles.LINUX_6_1;
        Path file = Files.write(dir.resolve("run.jsonl"), record);
        return Replay.run(
                RecordedRunReader.read(file, SgeFacts.NONE),
                profile,
                Drivers.of(driver, profile).orElseThrow());
    }

    private void isEqual() throws IOException {
        ReplayResult result = replay(lines, "rxe");
        assertThat(result.verdict()).isEqualTo("equal");
        assertThat(result.queues()).allMatch(ReplayResult.Queue::sameWrIds);
    }

    private void differsWith(String from, String to, String verdict) throws IOException {
        List<String> other = new ArrayList<>();
        boolean replaced = false;
        for (String line : lines) {
            boolean here = !replaced && line.contains(from);
            other.add(here ? line.replace(from, to) : line);
            replaced |= here;
        }
        assertThat(replaced).isTrue();
        assertThat(replay(other, "rxe").verdict()).isEqualTo(verdict);
    }

    /** A message of which only the completion's line tells when it was there: the sender's came first by its RNR timer. */
    @Test
    void aMessageThatWaitedIsReceivedBeforeItsBufferIsPostedAgain() throws IOException {
        pair(0, 17, 1, 1, 0);
        send(1_000, 17);
        post(400_000, 17, 0, 1, 0, -1);
        // the ring holds one; the record's sender tried again at some time before 500 us
        received(500_000, 17, 0, 0);
        post(500_060, 17, 0, 1, 0, -1);
        post(500_200, 17, 1, 1, -12, 0);
        sent(510_000, 17, 0);
        isEqual();
        differsWith(
                "\"ret\":-12,\"bad_index\":0",
                "\"ret\":0,\"bad_index\":-1",
                "QP 17 return #2: recorded 0, model -ENOMEM");
    }

    @Test
    void aSenderThatRecoveredAndGaveUpLaterGivesUpOnlyThen() throws IOException {
        pair(0, 17, 4, 1, 0);
        post(1_000, 17, 0, 1, 0, -1);
        send(2_000, 17);
        send(2_100, 17);
        send(2_200, 17);
        received(3_000, 17, 0, 0);
        sent(3_100, 17, 0);
        // dry for long, then one more
        post(90_000_000, 17, 1, 1, 0, -1);
        received(91_000_000, 17, 1, 0);
        sent(91_000_100, 17, 0);
        sent(200_000_000, 17, 13);
        // the line of the refill comes before anybody saw that the sender had given up
        post(199_000_000, 17, 2, 2, 0, -1);
        lines.sort(java.util.Comparator.comparingLong(l -> Long.parseLong(l.substring(5, l.indexOf(',')))));
        isEqual();
        differsWith("\"status\":13", "\"status\":12", "QP 17 receive-status #2: recorded none, model SUCCESS");
    }

    @Test
    void aQpThatIsConnectedAgainIsConnectedAtBothEnds() throws IOException {
        pair(0, 17, 8, 1, 0);
        post(1_000, 17, 0, 1, 0, -1);
        send(2_000, 17);
        received(3_000, 17, 0, 0);
        sent(3_100, 17, 0);
        send(4_000, 17);
        sent(9_000_000, 17, 13);
        post(9_500_000, 17, 1, 2, 0, -1);
        step(10_000_000, "QP to ERR: 0");
        received(10_000_100, 17, 1, 5);
        received(10_000_200, 17, 2, 5);
        step(11_000_000, "QP to RESET: 0");
        post(11_500_000, 17, 3, 1, -22, 0);
        step(12_000_000, "QP to INIT: 0");
        post(12_500_000, 17, 3, 2, 0, -1);
        step(13_000_000, "connect: 0");
        send(14_000_000, 17);
        received(14_001_000, 17, 3, 0);
        sent(14_002_000, 17, 0);
        isEqual();
        differsWith(
                "\"ret\":-22,\"bad_index\":0",
                "\"ret\":0,\"bad_index\":-1",
                "QP 17 return #2: recorded 0, model -EINVAL");
    }

    @Test
    void receivesTakenBeforeTheConnectionWereTakenInInit() throws IOException {
        pair(0, 17, 8, 1, 0);
        post(1_000, 17, 0, 2, 0, -1);
        step(2_000, "connect: 0");
        send(3_000, 17);
        received(4_000, 17, 0, 0);
        sent(4_100, 17, 0);
        isEqual();
        assertThat(replay(lines, "rxe").assumptions()).anyMatch(a -> a.contains("was in INIT"));
    }

    /** The line of a state change is written when the change is over, the workers' lines when they come to it. */
    @Test
    void whatWasReceivedBeforeTheErrorIsNotFlushed() throws IOException {
        pair(0, 17, 8, 1, 0);
        post(1_000, 17, 0, 4, 0, -1);
        received(9_000, 17, 0, 0);
        received(9_100, 17, 1, 5);
        send(9_200, 17);
        received(9_300, 17, 2, 5);
        step(9_400, "QP to ERR: 0");
        received(9_500, 17, 3, 5);
        sent(9_600, 17, 0);
        isEqual();
        differsWith("\"status\":5", "\"status\":0", "QP 17 receive-status #1: recorded SUCCESS, model WR_FLUSH_ERR");
    }

    @Test
    void aChainLongerThanItsListIsReplayedWhole() throws IOException {
        pair(0, 17, 100, 1, 0);
        post(1_000, 17, 0, 200, -12, 127);
        for (int i = 0; i < 70; i++) {
            send(10_000 + 100 * i, 17);
            received(10_050 + 100 * i, 17, i, 0);
            sent(10_060 + 100 * i, 17, 0);
        }
        isEqual();
        differsWith("\"bad_index\":127", "\"bad_index\":126", "QP 17 bad-wr #0: recorded 126, model 127");
    }

    /** Which of the pairs the module names in a post to the shared queue is its own affair. */
    @Test
    void receiversThatCompleteWhatOthersPostedShareAQueue() throws IOException {
        pair(0, 31, 8, 1, 1);
        pair(1, 21, 8, 1, 1);
        pair(2, 11, 8, 1, 1);
        call(1_000, "post_srq_recv", 31, 0, 6, 0, -1);
        send(2_000, 21);
        received(2_100, 21, 0, 0);
        sent(2_200, 21, 0);
        send(3_000, 11);
        received(3_100, 11, 1, 0);
        sent(3_200, 11, 0);
        call(4_000, "post_srq_recv", 11, 6, 2, 0, -1);
        send(5_000, 31);
        received(5_100, 31, 2, 0);
        sent(5_200, 31, 0);
        // 15 slots: 5 of 8 are taken
        call(6_000, "post_srq_recv", 21, 10, 12, -12, 10);
        post(7_000, 21, 30, 1, -22, 0);
        isEqual();
        differsWith("\"bad_index\":10", "\"bad_index\":11", "QP 21 bad-wr #0: recorded 11, model 10");
    }

    @Test
    void severalQpsOfOneRunDoNotDisturbEachOther() throws IOException {
        pair(0, 17, 1, 1, 0);
        pair(1, 27, 30, 2, 0);
        pair(2, 37, 4, 1, 0);
        post(1_000, 17, 0, 1, 0, -1);
        post(1_010, 27, 100, 31, 0, -1);
        post(1_020, 37, 200, 8, -12, 7);
        post(1_030, 27, 140, 1, -12, 0);
        send(2_000, 27);
        send(2_010, 37);
        received(2_100, 37, 200, 0);
        received(2_110, 27, 100, 0);
        sent(2_120, 27, 0);
        sent(2_130, 37, 0);
        post(2_500, 27, 100, 1, 0, -1);
        send(3_000, 17);
        received(3_100, 17, 0, 0);
        sent(3_200, 17, 0);
        isEqual();
        differsWith("\"bad_index\":7", "\"bad_index\":3", "QP 37 bad-wr #0: recorded 3, model 7");
    }
}
