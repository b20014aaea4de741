package dev.verbscope.kmodel.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.kmodel.consumer.Mistake;
import dev.verbscope.kmodel.consumer.Repost;
import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScenarioReaderTest {
    private static final String GOOD = """
            // a comment
            { "schema": "verbscope.scenario/1", "name": "n", "title": "t", "about": "a",
              "profile": "article-checked", /* another */
              "device": {}, "consumer": { "repost": {} }, "traffic": { "messages": 10 }, "expect": {} }
            """;

    private static Scenario parse(String json) throws IOException {
        return ScenarioReader.parse("x.json", json.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void defaultsAreThoseOfTheArticlesModule() throws IOException {
        Scenario s = parse(GOOD);
        assertThat(s.consumer().slots()).isEqualTo(256);
        assertThat(s.consumer().bufferBytes()).isEqualTo(4096);
        assertThat(s.consumer().pollBatch()).isEqualTo(16);
        assertThat(s.consumer().repost().policy()).isEqualTo(Repost.Policy.BATCH);
        assertThat(s.expected("article-split")).isEmpty();
    }

    @Test
    void mistakesAreReadByName() throws IOException {
        Scenario s = parse(
                GOOD.replace("\"repost\": {}", "\"repost\": {}, \"mistakes\": [\"stale-next\", \"null-bad-wr\"]"));
        assertThat(s.consumer().mistakes()).containsExactlyInAnyOrder(Mistake.STALE_NEXT, Mistake.NULL_BAD_WR);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"name\": \"n\"|\"name\": 3|x.json: field name: expected a text, found 3",
                "\"messages\": 10|\"messages\": -1|x.json: field traffic.messages: expected a whole number from 0 to"
                        + " 1000000000000, found -1",
                "\"messages\": 10|\"massages\": 10|x.json: field traffic.messages: expected a whole number from 0 to"
                        + " 1000000000000, found nothing",
                "\"messages\": 10|\"messages\": 10, \"burts\": 1|x.json: field traffic.burts: expected no such field here; known"
                        + " are burst",
                "\"repost\": {}|\"repost\": {\"policy\": \"sometimes\"}|x.json: field consumer.repost.policy: expected one of"
                        + " single, batch, batch-timeout, never, found \"sometimes\"",
                "\"repost\": {}|\"repost\": []|x.json: field consumer.repost: expected an object {...}, found []",
                "\"repost\": {}|\"slots\": 1e3|x.json: field consumer.slots: expected a whole number from 1 to 65536, found 1000.0",
                "\"repost\": {}|\"cqe\": 0|x.json: field consumer.cqe: expected a whole number from 1 to 65536, found 0",
                "\"repost\": {}|\"mistakes\": [\"none\"]|x.json: field consumer.mistakes[0]: expected one of stale-next",
                "\"repost\": {}|\"faults\": [{}]|x.json: field consumer.faults[0].kind: expected a text, found nothing",
                "article-checked|linux-9|x.json: field profile: expected one of article-passthrough, article-checked,"
                        + " article-split, linux-3.6, linux-4.4, linux-4.19, linux-5.10, linux-6.1, linux-6.12,"
                        + " linux-7.2, found \"linux-9\"",
                "\"expect\": {}|\"expect\": {\"linux-9\": []}|x.json: field expect.linux-9: expected \"default\" or one of",
                "\"device\": {}|\"device\": {\"driver\": \"mlx9\"}|x.json: field device.driver: expected one of article,"
                        + " mlx5",
                "scenario/1|scenario/7|x.json: field schema: expected \"verbscope.scenario/1\", found \"verbscope.scenario/7\"",
                "\"name\": \"n\",|\"name\": \"n\"|x.json: line 2 column",
                "\"about\": \"a\"|\"name\": \"m\"|x.json: line 2 column",
            })
    void anErrorNamesFileFieldAndWhatWasExpected(String from, String to, String message) {
        assertThat(GOOD).contains(from);
        assertThatThrownBy(() -> parse(GOOD.replace(from, to)))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageStartingWith(message);
    }

    @Test
    void filesThatAreNoneAreNamed(@TempDir Path folder) throws IOException {
        assertThatThrownBy(() -> ScenarioReader.read(folder))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageEndingWith("expected a scenario file, found a directory");
        assertThatThrownBy(() -> ScenarioReader.read(folder.resolve("no.json")))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageEndingWith("found nothing there");
        Path file = Files.writeString(folder.resolve("empty.json"), "");
        assertThatThrownBy(() -> ScenarioReader.read(file)).isInstanceOf(TraceFormatException.class);
        assertThatThrownBy(() -> ScenarioCatalog.load("healthy-batch-17"))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("healthy-batch-16, single-posting");
        Path copy = Files.writeString(folder.resolve("mine.json"), GOOD);
        assertThat(ScenarioCatalog.load(copy.toString()).name()).isEqualTo("n");
    }

    @Test
    void everyShippedScenarioHasItsNameAndAKnownProfile() throws IOException {
        for (String name : ScenarioCatalog.names()) {
            assertThat(ScenarioCatalog.load(name).name()).isEqualTo(name);
        }
    }
}
