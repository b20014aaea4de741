package dev.verbscope.traces.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class TextTemplateTest {
    private static TextTemplate template(String printFmt, EventFormat.Field... fields) {
        return TextTemplate.compile(PrintFormat.parse(printFmt), List.of(fields));
    }

    private static EventFormat.Field field(String declaration, String name, int size, boolean signed) {
        return new EventFormat.Field(declaration, name, 8, size, signed, false, 0);
    }

    /** Fields as {@code text} or {@code text=number}; null if the text does not match. */
    private static Map<String, String> match(TextTemplate template, String text) {
        byte[] bytes = ("<<" + text + ">>").getBytes(StandardCharsets.UTF_8);
        TextTemplate.Match match = template.newMatch();
        Map<String, String> out = new TreeMap<>();
        if (!template.match(bytes, 2, bytes.length - 2, match)) {
            out.put("no", "match");
            return out;
        }
        for (int f = 0; f < template.fields().size(); f++) {
            if (match.has(f)) {
                String value = new String(bytes, match.start(f), match.end(f) - match.start(f), StandardCharsets.UTF_8);
                out.put(template.fields().get(f), match.isNumber(f) ? value + "=" + match.number(f) : value);
            }
        }
        return out;
    }

    private static final Map<String, String> NO_MATCH = Map.of("no", "match");

    @Test
    void bringsNumbersToTheFieldsWidthAndSign() {
        TextTemplate t = template(
                "\"a=%d b=%u c=0x%x d=%llu\", REC->a, REC->b, REC->c, REC->d",
                field("u32 a", "a", 4, false), field("int b", "b", 4, true), field("int c", "c", 4, true));
        assertThat(match(t, "a=-1 b=4294967274 c=0xffffffea d=18446744073709551615"))
                .isEqualTo(Map.of(
                        "a",
                        "-1=4294967295",
                        "b",
                        "4294967274=-22",
                        "c",
                        "ffffffea=-22",
                        "d",
                        "18446744073709551615=-1"));
        assertThat(match(t, "a=1 b=2 c=0x3")).isEqualTo(NO_MATCH);
        assertThat(match(t, "a=1 b=2 c=0x3 d=4 more")).isEqualTo(NO_MATCH);
        assertThat(match(t, "a= b=2 c=0x3 d=4")).isEqualTo(NO_MATCH);
    }

    @Test
    void undoesByteSwaps() {
        TextTemplate t = template("\"tid 0x%llx w 0x%04x\", __builtin_bswap64((__u64)REC->tid), be16_to_cpu(REC->w)");
        assertThat(match(t, "tid 0x1 w 0x1234")).isEqualTo(Map.of("tid", "1=72057594037927936", "w", "1234=13330"));
    }

    @Test
    void turnsSymbolsAndFlagsIntoNumbers() {
        TextTemplate t = template("\"%s|%s\", __print_symbolic(REC->s, { 0, \"A B\" }, { 1, \"A\" }, { 2, \"\" }), "
                + "__print_flags(REC->f, \"|\", { 1, \"X\" }, { (1 << 4), \"Y\" })");
        assertThat(match(t, "A B|X|Y|0x100")).isEqualTo(Map.of("s", "A B=0", "f", "X|Y|0x100=273"));
        assertThat(match(t, "A|")).isEqualTo(Map.of("s", "A=1", "f", "=0"));
        assertThat(match(t, "0x7|Z")).isEqualTo(Map.of("s", "0x7=7", "f", "Z"));
        assertThat(match(t, "new|X")).isEqualTo(Map.of("s", "new", "f", "X=1"));
    }

    @Test
    void findsTextBetweenLiterals() {
        TextTemplate t = template("\"peer=[%s]:%s %u reqs\", __get_str(addr), __get_str(port), REC->reqs");
        assertThat(match(t, "peer=[fe80::1]:20049 12 reqs"))
                .isEqualTo(Map.of("addr", "fe80::1", "port", "20049", "reqs", "12=12"));
        // the literal comes twice: the first place does not lead to the end
        assertThat(match(t, "peer=[a]:b]:c d 5 reqs")).isEqualTo(Map.of("addr", "a", "port", "b]:c d", "reqs", "5=5"));
    }

    @Test
    void choosesBetweenTexts() {
        TextTemplate t =
                template("\"(%d SGE%s) %s\", REC->n, (REC->n == 1 ? \"\" : \"s\"), (REC->on ? \"signaled\" : \"\")");
        assertThat(match(t, "(2 SGEs) signaled")).isEqualTo(Map.of("n", "2=2", "on", "signaled=1"));
        assertThat(match(t, "(1 SGE) ")).isEqualTo(Map.of("n", "1=1", "on", "=0"));
        // mailers cut the blank at the end
        assertThat(match(t, "(1 SGE)")).isEqualTo(Map.of("n", "1=1"));
    }

    @Test
    void readsPointers() {
        TextTemplate t = template("\"%p %s\", REC->p, REC->x");
        assertThat(match(t, "00000000dab41cdc y")).isEqualTo(Map.of("p", "00000000dab41cdc=3669236956", "x", "y"));
        assertThat(match(t, "0xffff888019750000 y")).containsKey("p");
        assertThat(match(t, "(____ptrval____) y")).isEqualTo(Map.of("p", "(____ptrval____)", "x", "y"));
    }

    @Test
    void derivedValuesAreNoFields() {
        TextTemplate t = template("\"(total %u) %lu\", REC->a + REC->b, REC->connect / 250");
        assertThat(t.fields()).isEmpty();
        assertThat(match(t, "(total 52) 3")).isEmpty();
        assertThat(match(t, "(total x) 3")).isEqualTo(NO_MATCH);
    }

    @Test
    void zeroPaddingTellsKernelsApart() {
        TextTemplate t = template("\"task:%08x@%08x\", REC->task_id, REC->client_id");
        assertThat(match(t, "task:00000351@00000005")).hasSize(2);
        assertThat(match(t, "task:351@5")).isEqualTo(NO_MATCH);
    }

    @Test
    void hostileTextEnds() {
        StringBuilder format = new StringBuilder("\"");
        StringBuilder arguments = new StringBuilder();
        for (int i = 0; i < 12; i++) {
            format.append("%s,");
            arguments.append(", REC->f").append(i);
        }
        TextTemplate t = template(format.append("!\"") + arguments.toString());
        assertThat(match(t, ",".repeat(3000))).isEqualTo(NO_MATCH);
    }

    @Property(tries = 200)
    void neverFails(@ForAll String text, @ForAll String format) {
        match(template("\"" + format + "\", REC->a, REC->b, __get_str(c)"), text);
        assertThat(match(template("\"%s%s=%d\", REC->a, REC->b, REC->c"), text + "=1"))
                .containsEntry("c", "1=1");
    }

    @Test
    void shippedFormatsGiveTheirFields() throws Exception {
        for (String resource : List.of("linux-6.1.formats", "linux-6.12.formats", "linux-5.10.formats")) {
            for (EventFormat format : ShippedFormatsTestSupport.all(resource)) {
                List<String> declared =
                        format.fields().stream().map(EventFormat.Field::name).toList();
                assertThat(declared)
                        .as(format.name())
                        .containsAll(TextTemplate.compile(format).fields());
            }
        }
    }
}
