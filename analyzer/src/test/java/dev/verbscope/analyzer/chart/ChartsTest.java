package dev.verbscope.analyzer.chart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.analyzer.Analysis;
import dev.verbscope.analyzer.bind.Bindings;
import dev.verbscope.analyzer.detect.MissedHits;
import dev.verbscope.analyzer.report.AnalysisReport;
import dev.verbscope.analyzer.timeline.Timeline;
import dev.verbscope.traces.event.TraceReader;
import dev.verbscope.traces.format.EventCatalog;
import dev.verbscope.traces.io.TraceInputs;
import java.awt.Color;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.w3c.dom.Document;

/** What is drawn, as far as a test can tell; how it looks was looked at. */
class ChartsTest {
    private static final Path SAMPLES = Path.of("..", "traces", "samples", "6.1.0-50-amd64");

    /** Read once for all kinds. */
    private static final Supplier<ChartSource> DRY = once(() -> sample("rxfault-leak_dry"));

    private static final Supplier<ChartSource> CHAIN = once(() -> sample("rxfault-chain"));
    private static final Supplier<ChartSource> MANY = once(() -> text(manyQueues(500)));

    private static Supplier<ChartSource> once(Callable<ChartSource> read) {
        AtomicReference<ChartSource> known = new AtomicReference<>();
        return () -> {
            ChartSource source = known.get();
            if (source == null) {
                try {
                    source = read.call();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                known.set(source);
            }
            return source;
        };
    }

    static ChartSource sample(String name) throws IOException {
        try (TraceReader reader =
                TraceInputs.open(SAMPLES.resolve(name).resolve("trace-mono.txt").toString(), EventCatalog.shipped())) {
            return source(name, reader);
        }
    }

    static ChartSource text(String trace) throws IOException {
        try (TraceReader reader = TraceInputs.open(
                "-", EventCatalog.shipped(), new ByteArrayInputStream(trace.getBytes(StandardCharsets.UTF_8)))) {
            return source("made", reader);
        }
    }

    private static ChartSource source(String name, TraceReader reader) throws IOException {
        Timeline timeline = new Timeline();
        AnalysisReport report =
                Analysis.run(reader, Bindings.shipped(), MissedHits.UNKNOWN, List.of(timeline), event -> {});
        return new ChartSource(name, report, timeline);
    }

    private static BufferedImage png(Picture picture) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PictureWriter.write(picture, PictureWriter.Format.PNG, 900, bytes);
        return ImageIO.read(new ByteArrayInputStream(bytes.toByteArray()));
    }

    private static long pixels(BufferedImage image, Color colour) {
        long n = 0;
        int wanted = colour.getRGB() & 0xffffff;
        for (int pixel : image.getRGB(0, 0, image.getWidth(), image.getHeight(), null, 0, image.getWidth())) {
            n += (pixel & 0xffffff) == wanted ? 1 : 0;
        }
        return n;
    }

    /** A capture of so many queues, each of which posts eight WRs and receives on half of them. */
    static String manyQueues(int queues) {
        StringBuilder text = new StringBuilder("# tracer: nop\n#\n");
        double time = 1;
        for (int i = 0; i < 12; i++) {
            for (int qp = 1; qp <= queues; qp++) {
                time += 0.000010;
                long wr = 0x100000L * qp + 0x100L * i;
                if (i < 8) {
                    text.append(String.format(
                            Locale.ROOT,
                            "    task-%d  [001] .....  %.6f: post_recv: (mlx5_ib_post_recv+0x0/0xf0 [mlx5_ib])"
                                    + " qp=0x%x qp_num=%d wr=0x%x wr_id=0x%x num_sge=1 next=0x0 bad_wr=0x0%n"
                                    + "    task-%d  [001] .....  %.6f: post_recv_ret: (f+0x1/0x9 [app] <- g) ret=0%n",
                            qp,
                            time,
                            0x9000 + qp * 8,
                            qp,
                            wr + 8,
                            wr,
                            qp,
                            time + 0.000003));
                } else {
                    text.append(String.format(
                            Locale.ROOT,
                            "    task-%d  [001] .....  %.6f: cq_post: (c+0x0/0x1 [mlx5_ib]) cq=0x1 wr_id=0x%x status=%d"
                                    + " opcode=128 vendor_err=0 byte_len=10 qp_num=%d%n",
                            qp,
                            time,
                            wr - 0x800,
                            qp % 100 == 0 ? 5 : 0,
                            qp));
                }
            }
        }
        return text.toString();
    }

    @ParameterizedTest
    @EnumSource(ChartKind.class)
    void everyKindIsDrawnOfOneCaptureAndOfTwo(ChartKind kind) throws Exception {
        ChartSource dry = DRY.get();
        ChartSource chain = CHAIN.get();
        for (Theme theme : Theme.values()) {
            Picture one = Charts.of(kind, List.of(dry), Charts.Look.page(theme));
            BufferedImage image = png(one);
            assertThat(image.getWidth()).isEqualTo(900);
            assertThat(pixels(image, theme.background())).isGreaterThan(900L * image.getHeight() / 3);
            long drawn = 900L * image.getHeight() - pixels(image, theme.background()) - pixels(image, theme.grid());
            assertThat(drawn).as("%s: text alone is less", kind).isGreaterThan(9000);
            assertThat(one.alt())
                    .startsWith(one.title())
                    .hasSizeGreaterThan(one.title().length() + 20);
        }
        Picture two = Charts.of(kind, List.of(dry, chain), Charts.Look.page(Theme.LIGHT));
        assertThat(pixels(png(two), Theme.LIGHT.series(1)))
                .as("the second capture")
                .isGreaterThan(100);
        assertThat(two.alt())
                .isNotEqualTo(Charts.of(kind, List.of(dry), Charts.Look.page(Theme.LIGHT))
                        .alt());
    }

    @ParameterizedTest
    @EnumSource(value = ChartKind.class, names = "CQ_BATCH", mode = EnumSource.Mode.EXCLUDE)
    void fiveHundredQueuesShareAPage(ChartKind kind) throws Exception {
        ChartSource many = MANY.get();
        assertThat(many.receiving()).hasSize(500);
        Picture picture = Charts.of(kind, List.of(many), Charts.Look.page(Theme.LIGHT));
        BufferedImage image = png(picture);
        assertThat(image.getHeight()).as("one page").isLessThan(1200);
        assertThat(picture.alt()).contains("500");
    }

    @Test
    void aLeakIsToldInWordsAndNumbered() throws Exception {
        Picture picture =
                Charts.of(ChartKind.OUTSTANDING, List.of(sample("rxfault-leak_dry")), Charts.Look.page(Theme.LIGHT));
        assertThat(picture.alt()).contains("QP 25", "most 16, low 0, end 0", "repost-leak");
        assertThat(picture.notes()).anyMatch(n -> n.startsWith("1  from ") && n.contains("repost-leak (error)"));
    }

    @Test
    void theDepthIsDrawnWhereItIsKnown() throws Exception {
        Picture picture =
                Charts.of(ChartKind.OUTSTANDING, List.of(sample("rxfault-overfill")), Charts.Look.page(Theme.LIGHT));
        assertThat(PictureWriter.svg(picture, 1000)).contains("depth 31 (inferred)");
    }

    @Test
    void anSvgIsOneSelfContainedElementWithItsWords() throws Exception {
        ChartSource many = text(manyQueues(40));
        for (ChartSource source : List.of(sample("rxfault-single"), many)) {
            Picture picture = Charts.of(ChartKind.DOORBELLS, List.of(source), Charts.Look.page(Theme.DARK));
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            PictureWriter.write(picture, PictureWriter.Format.SVG, 1000, bytes);
            String svg = bytes.toString(StandardCharsets.UTF_8);
            Document document = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(new ByteArrayInputStream(bytes.toByteArray()));
            assertThat(document.getDocumentElement().getTagName()).isEqualTo("svg");
            assertThat(document.getElementsByTagName("desc").item(0).getTextContent())
                    .isEqualTo(picture.alt());
            assertThat(svg).doesNotContain("<!DOCTYPE").doesNotContainPattern("(href|src)=\"(?!data:|#)");
        }
    }

    @Test
    void whatIsNotThereIsSaid() throws Exception {
        ChartSource sched = text("  bash-1  [000] d..2.  1.000000: sched_wakeup: comm=a pid=1\n");
        for (ChartKind kind : ChartKind.values()) {
            assertThatThrownBy(() -> Charts.of(kind, List.of(sched), Charts.Look.page(Theme.LIGHT)))
                    .isInstanceOf(NothingToDrawException.class)
                    .hasMessageStartingWith("made: no ");
        }
    }

    @Test
    void controlCharactersInNamesDoNotReachThePicture() {
        assertThat(Charts.clean("a\u001b[31m\u0000b")).isEqualTo("a\ufffd[31m\ufffdb");
    }
}
