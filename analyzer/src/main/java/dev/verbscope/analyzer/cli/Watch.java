package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.ledger.LedgerListener;
import dev.verbscope.traces.event.TraceEvent;
import dev.verbscope.traces.event.TraceReader;
import java.util.List;
import java.util.function.Consumer;

/**
 * Who looks on while a capture is analysed.
 *
 * @param listeners told while the ledger grows
 * @param each told of each item of the capture
 * @param atEnd told of the reader when all is read, before it is closed
 */
record Watch(List<LedgerListener> listeners, Consumer<TraceEvent> each, Consumer<TraceReader> atEnd) {
    /** Only the ledger's listeners. */
    static Watch by(List<LedgerListener> listeners) {
        return new Watch(listeners, event -> {}, reader -> {});
    }
}
