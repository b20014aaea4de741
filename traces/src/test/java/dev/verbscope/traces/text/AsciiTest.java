package dev.verbscope.traces.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class AsciiTest {
    private static byte[] padded(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        return Arrays.copyOf(bytes, bytes.length + Ascii.PADDING);
    }

    @Property
    void findsAsALoopDoes(
            @ForAll @Size(max = 40) byte[] bytes, @ForAll byte wanted, @ForAll @IntRange(max = 40) int from) {
        byte[] b = Arrays.copyOf(bytes, bytes.length + Ascii.PADDING);
        int start = Math.min(from, bytes.length);
        int expected = start;
        while (expected < bytes.length && b[expected] != wanted) {
            expected++;
        }
        assertThat(Ascii.find(b, start, bytes.length, wanted)).isEqualTo(expected);
    }

    @Property
    void hashDependsOnTheRangeOnly(@ForAll @Size(max = 40) byte[] bytes, @ForAll byte behind) {
        byte[] a = Arrays.copyOf(bytes, bytes.length + Ascii.PADDING);
        byte[] b = new byte[a.length + 3];
        Arrays.fill(b, behind);
        System.arraycopy(bytes, 0, b, 3, bytes.length);
        assertThat(Ascii.hash(a, 0, bytes.length)).isEqualTo(Ascii.hash(b, 3, bytes.length + 3));
    }

    @Property
    void readsEveryLong(@ForAll long value) {
        for (String text : new String[] {
            Long.toString(value),
            Long.toUnsignedString(value),
            "0x" + Long.toHexString(value),
            "0x" + String.format("%016X", value)
        }) {
            byte[] b = padded(text + " ");
            assertThat(Ascii.endOfNumber(b, 0, text.length() + 1)).as(text).isEqualTo(text.length());
            assertThat(Ascii.number(b, 0, text.length())).as(text).isEqualTo(value);
        }
    }

    @Test
    void refusesWhatIsNo64BitNumber() {
        for (String text :
                new String[] {"", "-", "x", "0x", "0xg", "-0x1", "rxe_post_recv+0x0/0xf0", "0x12345678901234567"}) {
            int end = Ascii.endOfNumber(padded(text), 0, text.length());
            assertThat(end == 0 || end < text.length()).as(text).isTrue();
        }
        BigInteger limit = BigInteger.ONE.shiftLeft(64);
        for (BigInteger value : new BigInteger[] {
            limit,
            limit.add(BigInteger.TEN),
            new BigInteger("99999999999999999999"),
            new BigInteger("-9223372036854775809"),
            new BigInteger("-18446744073709551615")
        }) {
            String text = value.toString();
            assertThat(Ascii.endOfNumber(padded(text), 0, text.length()))
                    .as(text)
                    .isZero();
        }
        String most = limit.subtract(BigInteger.ONE).toString();
        assertThat(Ascii.number(padded(most), 0, Ascii.endOfNumber(padded(most), 0, most.length())))
                .isEqualTo(-1);
    }

    @Test
    void knowsHexDigits() {
        for (int c = 0; c < 256; c++) {
            assertThat(Ascii.hexDigit((byte) c)).isEqualTo(c < 128 ? Character.digit(c, 16) : -1);
        }
    }
}
