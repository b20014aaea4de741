package dev.verbscope.traces.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.traces.event.TraceFormatException;
import org.junit.jupiter.api.Test;

class FormatParserPrintFmtTest {
    @Test
    void keepsANewlineWithinThePrintFormat() throws TraceFormatException {
        EventFormat format = FormatParser.parse("format", "rpcrdma", """
                name: rpcrdma_client_register
                ID: 1920
                format:
                	field:void * callback;	offset:16;	size:8;	signed:0;

                print fmt: "done callback=%pS
                ", REC->callback
                """);
        assertThat(format.printFmt()).isEqualTo("\"done callback=%pS\n\", REC->callback");
        assertThat(format.fields()).hasSize(1);
    }
}
