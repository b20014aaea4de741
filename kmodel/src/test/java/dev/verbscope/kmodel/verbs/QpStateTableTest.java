package dev.verbscope.kmodel.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Every decision of the state machine against a second encoding: the table's text, read line by line. */
class QpStateTableTest {
    private static final List<String> BITS = List.of(
            "STATE",
            "CUR_STATE",
            "EN_SQD_ASYNC_NOTIFY",
            "ACCESS_FLAGS",
            "PKEY_INDEX",
            "PORT",
            "QKEY",
            "AV",
            "PATH_MTU",
            "TIMEOUT",
            "RETRY_CNT",
            "RNR_RETRY",
            "RQ_PSN",
            "MAX_QP_RD_ATOMIC",
            "ALT_PATH",
            "MIN_RNR_TIMER",
            "SQ_PSN",
            "MAX_DEST_RD_ATOMIC",
            "PATH_MIG_STATE",
            "CAP",
            "DEST_QPN");

    private record Row(String from, String to, Set<String> types, Set<String> required, Set<String> optional) {}

    private final List<Row> rows = read();

    private static Set<String> set(String list) {
        return list.isEmpty() ? Set.of() : Set.copyOf(Arrays.asList(list.split(",", -1)));
    }

    private static List<Row> read() {
        List<Row> out = new ArrayList<>();
        try (InputStream in =
                Objects.requireNonNull(QpStateTableTest.class.getResourceAsStream("qp-state-table.txt"))) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList()) {
                if (!line.startsWith("#")) {
                    String[] f = line.split(";", -1);
                    out.add(new Row(f[0], f[1], set(f[2]), set(f[3]), set(f[4])));
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return out;
    }

    private static Set<String> names(int mask) {
        List<String> out = new ArrayList<>();
        for (int bit = 0; bit < 32; bit++) {
            if (((mask >>> bit) & 1) != 0) {
                out.add(bit == 25 ? "RATE_LIMIT" : bit < BITS.size() ? BITS.get(bit) : "bit " + bit);
            }
        }
        return Set.copyOf(out);
    }

    /** The algorithm of section 5 over the text. */
    private boolean expected(String from, String to, String type, Set<String> set, boolean rateAnywhere) {
        if (set.contains("CUR_STATE") && !Set.of("RTR", "RTS", "SQD", "SQE").contains(from)) {
            return false;
        }
        boolean valid = false;
        Row own = null;
        for (Row row : rows) {
            if (row.from.equals(from) && row.to.equals(to)) {
                valid = true;
                if (row.types.contains("all") || row.types.contains(type)) {
                    own = row;
                }
            }
        }
        if (!valid) {
            return false;
        }
        Set<String> required = own == null ? Set.of() : own.required;
        Set<String> optional = own == null ? Set.of() : own.optional;
        return set.containsAll(required)
                && set.stream()
                        .allMatch(a -> a.equals("STATE")
                                || required.contains(a)
                                || optional.contains(a)
                                || (rateAnywhere && a.equals("RATE_LIMIT")));
    }

    private static List<Integer> masksToTry(int required, int optional) {
        List<Integer> out = new ArrayList<>();
        int[] bases = {0, required, required | optional, required | 1, required | optional | 1};
        for (int base : bases) {
            out.add(base);
            for (int bit = 0; bit < 32; bit++) {
                out.add(base ^ (1 << bit));
                for (int second = bit + 1; second < 26; second++) {
                    out.add(base ^ (1 << bit) ^ (1 << second));
                }
            }
        }
        return out;
    }

    @Test
    void everyDecisionIsTheTables() {
        int decisions = 0;
        int passed = 0;
        for (QpState from : QpState.values()) {
            for (QpState to : QpState.values()) {
                for (QpType type : QpType.values()) {
                    QpStateTable.Masks m = QpStateTable.masks(from, to, type);
                    List<Integer> masks = m == null ? masksToTry(0, 0) : masksToTry(m.required(), m.optional());
                    for (int mask : masks) {
                        for (boolean rate : new boolean[] {false, true}) {
                            boolean ok = QpStateTable.ok(from, to, type, mask, rate);
                            assertThat(ok)
                                    .as("%s to %s, %s, %s, rate limit %s", from, to, type, names(mask), rate)
                                    .isEqualTo(expected(from.name(), to.name(), type.name(), names(mask), rate));
                            decisions++;
                            passed += ok ? 1 : 0;
                        }
                    }
                }
            }
        }
        assertThat(decisions).isGreaterThan(1_000_000);
        assertThat(passed).isGreaterThan(10_000);
    }

    @Test
    void theMasksSeenInTracesPass() {
        assertThat(QpStateTable.ok(QpState.RESET, QpState.INIT, QpType.RC, 0x39, false))
                .isTrue();
        assertThat(QpStateTable.ok(QpState.INIT, QpState.INIT, QpType.RC, 0x39, false))
                .isTrue();
        assertThat(QpStateTable.ok(QpState.INIT, QpState.RTR, QpType.RC, 0x129181, false))
                .isTrue();
        assertThat(QpStateTable.ok(QpState.RTR, QpState.RTS, QpType.RC, 0x12e01, false))
                .isTrue();
        assertThat(QpStateTable.ok(QpState.RTS, QpState.ERR, QpType.RC, 0x1, false))
                .isTrue();
        assertThat(QpStateTable.ok(QpState.RESET, QpState.INIT, QpType.GSI, 0x51, false))
                .isTrue();
        assertThat(QpStateTable.ok(QpState.RTR, QpState.RTS, QpType.GSI, 0x10001, false))
                .isTrue();
    }

    @Test
    void namesOfAMask() {
        assertThat(QpAttrMask.names(0x39)).containsExactly("STATE", "ACCESS_FLAGS", "PKEY_INDEX", "PORT");
        assertThat(QpAttrMask.names(QpAttrMask.RATE_LIMIT | 1 << 30)).containsExactly("RATE_LIMIT", "0x40000000");
    }
}
