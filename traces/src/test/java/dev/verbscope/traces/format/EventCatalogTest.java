package dev.verbscope.traces.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventCatalogTest {
    @Test
    void givesAllShippedFormatsByName() throws Exception {
        Map<String, Integer> count = new HashMap<>();
        EventCatalog catalog = EventCatalog.shipped();
        for (String resource : List.of("linux-6.1.formats", "linux-6.12.formats", "linux-5.10.formats")) {
            for (EventFormat format : ShippedFormatsTestSupport.all(resource)) {
                assertThat(catalog.named(format.name())).contains(format);
                count.merge(format.name(), 1, Integer::sum);
            }
        }
        count.forEach((name, n) -> assertThat(catalog.named(name)).as(name).hasSize(n));
        assertThat(count).hasSizeGreaterThan(180);
        assertThat(catalog.named("ib_post_recv")).isEmpty();
        assertThat(catalog.named("svcrdma_post_send").get(0).system()).isEqualTo("rpcrdma");
    }

    @Test
    void addedFormatsComeFirst() throws Exception {
        EventCatalog catalog = new EventCatalog(EventCatalog.shipped());
        EventFormat mine = FormatParser.parse("mine", "x", "name: cq_poll\nID: 5\nformat:\n\nprint fmt: \"a\"\n");
        catalog.add(mine);
        assertThat(catalog.named("cq_poll").get(0)).isEqualTo(mine);
        assertThat(catalog.named("cq_poll")).hasSize(3);
    }

    @Test
    void readsAFolderAndTellsBrokenFiles(@TempDir Path events) throws Exception {
        Files.createDirectories(events.resolve("probe/post_recv"));
        Files.writeString(
                events.resolve("probe/post_recv/format"),
                "name: post_recv\nID: 7\nformat:\n\tfield:u64 wr;\toffset:8;\tsize:8;\tsigned:0;\n\nprint fmt: \"wr=%d\", REC->wr\n");
        Files.createDirectories(events.resolve("probe/broken"));
        Files.writeString(events.resolve("probe/broken/format"), "\u0000\u0001");
        EventCatalog catalog = EventCatalog.folder(events, new EventCatalog());
        assertThat(catalog.named("post_recv")).singleElement().satisfies(f -> {
            assertThat(f.system()).isEqualTo("probe");
            assertThat(f.id()).isEqualTo(7);
        });
        assertThat(catalog.named("../probe/post_recv")).isEmpty();
        assertThat(catalog.named("broken")).isEmpty();
        assertThat(catalog.problems()).singleElement().asString().contains("line 1");
    }
}
