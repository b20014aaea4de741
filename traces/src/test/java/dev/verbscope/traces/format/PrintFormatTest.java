package dev.verbscope.traces.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

class PrintFormatTest {
    private static PrintExpr expression(String text) {
        return PrintFormat.parse("\"%d\", " + text).arguments().get(0);
    }

    @Test
    void takesFormatStringAndArgumentsApart() {
        PrintFormat format = PrintFormat.parse("\"cq.id=%u 100%% wake-up %-8lld [us]\", REC->cq_id, REC->latency");
        assertThat(format.segments())
                .containsExactly(
                        new PrintFormat.Literal("cq.id="),
                        new PrintFormat.Conversion("", -1, -1, "", 'u', "", 0),
                        new PrintFormat.Literal(" 100% wake-up "),
                        new PrintFormat.Conversion("-", 8, -1, "ll", 'd', "", 1),
                        new PrintFormat.Literal(" [us]"));
        assertThat(format.arguments()).containsExactly(new PrintExpr.Field("cq_id"), new PrintExpr.Field("latency"));
    }

    @Test
    void readsKernelPointerForms() {
        PrintFormat format = PrintFormat.parse(
                "\"%pISpc %pS %pI6c %p %*ph %.*s|\", REC->a, REC->b, REC->c, REC->d, 3, REC->e, 4, __get_str(f)");
        List<PrintFormat.Conversion> conversions = new ArrayList<>();
        format.segments().forEach(s -> {
            if (s instanceof PrintFormat.Conversion c) {
                conversions.add(c);
            }
        });
        assertThat(conversions)
                .extracting(PrintFormat.Conversion::pointerForm)
                .containsExactly("ISpc", "S", "I6c", "", "h", "");
        assertThat(conversions).extracting(PrintFormat.Conversion::argument).containsExactly(0, 1, 2, 3, 5, 7);
        assertThat(conversions.get(4).width()).isEqualTo(PrintFormat.FROM_ARGUMENT);
        assertThat(conversions.get(5).precision()).isEqualTo(PrintFormat.FROM_ARGUMENT);
    }

    @Test
    void readsStringsAsTheKernelKeepsThem() {
        // static events: raw newline and raw quotes; probes: escaped quotes; joined literals
        assertThat(PrintFormat.parse("\"dma addr=0x%llx\n\", REC->addr").segments())
                .endsWith(new PrintFormat.Literal("\n"));
        assertThat(PrintFormat.parse("\"a=\"%s\", b=%d\", REC->a, REC->b").arguments())
                .hasSize(2);
        assertThat(PrintFormat.parse("\"(%lx) comm=\\\"%s\\\"\", REC->__probe_ip, __get_str(comm)")
                        .segments())
                .endsWith(new PrintFormat.Literal("\""));
        assertThat(PrintFormat.parse("\"one \" \"two\"").segments())
                .containsExactly(new PrintFormat.Literal("one two"));
        assertThat(PrintFormat.parse("\"\\101\\x42\\t\"").segments()).containsExactly(new PrintFormat.Literal("AB\t"));
    }

    @Test
    void parsesExpressions() {
        PrintExpr interrupt = new PrintExpr.Field("interrupt");
        assertThat(expression("REC->interrupt ? \"interrupt\" : \"reschedule\""))
                .isEqualTo(new PrintExpr.Ternary(
                        interrupt, new PrintExpr.Text("interrupt"), new PrintExpr.Text("reschedule")));
        assertThat(expression("(unsigned long long)REC->offset"))
                .isEqualTo(new PrintExpr.Cast("unsigned long long", new PrintExpr.Field("offset")));
        assertThat(expression("1 + 2 * 3 << 1"))
                .isEqualTo(new PrintExpr.Binary(
                        "<<",
                        new PrintExpr.Binary(
                                "+",
                                new PrintExpr.Constant(1),
                                new PrintExpr.Binary("*", new PrintExpr.Constant(2), new PrintExpr.Constant(3))),
                        new PrintExpr.Constant(1)));
        assertThat(expression("(REC->a) && !(REC->b & 0xffUL)"))
                .isEqualTo(new PrintExpr.Binary(
                        "&&",
                        new PrintExpr.Field("a"),
                        new PrintExpr.Unary(
                                "!",
                                new PrintExpr.Binary("&", new PrintExpr.Field("b"), new PrintExpr.Constant(255)))));
        assertThat(expression("__builtin_bswap64((__u64)(( __u64)(__be64)(REC->wrtid)))"))
                .isInstanceOfSatisfying(PrintExpr.Call.class, call -> {
                    assertThat(call.function()).isEqualTo("__builtin_bswap64");
                    assertThat(PrintExpr.withoutCasts(call.arguments().get(0))).isEqualTo(new PrintExpr.Field("wrtid"));
                });
        assertThat(expression("__print_symbolic(REC->s, { -1, \"A,}\" }, { SOME_ENUM, \"B\" })"))
                .isEqualTo(new PrintExpr.Symbolic(
                        new PrintExpr.Field("s"),
                        List.of(
                                new PrintExpr.Entry(new PrintExpr.Constant(-1), "A,}"),
                                new PrintExpr.Entry(new PrintExpr.Symbol("SOME_ENUM"), "B"))));
        assertThat(expression("__print_flags(REC->f, \"|\", { (1 << 0), \"X\" })"))
                .isInstanceOf(PrintExpr.Flags.class);
        assertThat(expression("__print_array(__get_dynamic_array(wqe), __get_dynamic_array_len(wqe) / 4, sizeof(u32))"))
                .isEqualTo(new PrintExpr.PrintArray(
                        new PrintExpr.DynamicArray("wqe"),
                        new PrintExpr.Binary("/", new PrintExpr.DynamicArrayLength("wqe"), new PrintExpr.Constant(4)),
                        new PrintExpr.SizeOf("u32")));
        assertThat(expression("REC->ip.addr[REC->i]"))
                .isEqualTo(new PrintExpr.Index(
                        new PrintExpr.Member(new PrintExpr.Field("ip"), "addr", false), new PrintExpr.Field("i")));
        assertThat(expression("'\\n'")).isEqualTo(new PrintExpr.Constant(10));
        assertThat(expression("0xffffffffffffffff")).isEqualTo(new PrintExpr.Constant(-1));
    }

    @Test
    void keepsWhatItDoesNotUnderstand() {
        PrintFormat format = PrintFormat.parse("\"%d %d\", ({ int x = 1; x; }), REC->b");
        assertThat(format.arguments())
                .containsExactly(new PrintExpr.Unparsed("({ int x = 1; x; })"), new PrintExpr.Field("b"));
        assertThat(expression("(".repeat(5000) + "1")).isInstanceOf(PrintExpr.Unparsed.class);
        assertThat(PrintFormat.parse("").segments()).isEmpty();
    }

    @Property
    void neverFails(@ForAll @StringLength(max = 60) String text) {
        assertThat(PrintFormat.parse(text)).isNotNull();
        assertThat(PrintFormat.parse("\"%d %s\", " + text)).isNotNull();
    }

    @Test
    void everyFormatOfTwoKernelsIsUnderstood() throws Exception {
        int formats = 0;
        for (String kernel : List.of("6.1", "6.12")) {
            for (EventFormat format : ShippedFormatsTestSupport.all("linux-" + kernel + ".formats")) {
                PrintFormat print = PrintFormat.parse(format.printFmt());
                assertThat(print.segments()).as(format.name()).isNotEmpty();
                int wanted = 0;
                for (PrintFormat.Segment segment : print.segments()) {
                    if (segment instanceof PrintFormat.Conversion c) {
                        wanted = c.argument() + 1;
                    }
                }
                assertThat(print.arguments()).as(format.name()).hasSize(wanted);
                assertThat(print.arguments().toString()).as(format.name()).doesNotContain("Unparsed");
                formats++;
            }
        }
        assertThat(formats).isEqualTo(176 + 190);
    }

    @Test
    void understandsOtherSystems() {
        String nvme = "\"nvme%d: %sqid=%d, cmd=(%s %s)\", REC->ctrl_id, nvme_trace_disk_name(p, REC->disk), REC->qid, "
                + "((REC->opcode) == nvme_fabrics_command ? __print_symbolic(REC->fctype, { 4, \"connect\" }) : "
                + "((REC->qid) ? __print_symbolic(REC->opcode, { nvme_cmd_flush, \"flush\" }) : "
                + "__print_symbolic(REC->opcode, { 1, \"x\" }))), "
                + "(REC->opcode == nvme_fabrics_command ? nvme_trace_parse_fabrics_cmd(p, REC->fctype, REC->cdw10) : "
                + "nvme_trace_parse_nvm_cmd(p, REC->opcode, REC->cdw10))";
        PrintFormat print = PrintFormat.parse(nvme);
        assertThat(print.arguments()).hasSize(5);
        assertThat(print.arguments().toString()).doesNotContain("Unparsed");
        assertThat(print.arguments().get(3)).isInstanceOf(PrintExpr.Ternary.class);
    }
}
