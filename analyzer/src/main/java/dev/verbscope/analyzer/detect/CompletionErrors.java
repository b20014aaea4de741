package dev.verbscope.analyzer.detect;

import dev.verbscope.analyzer.detect.Finding.Confidence;
import dev.verbscope.analyzer.detect.Finding.Severity;
import dev.verbscope.analyzer.knowledge.VendorError;
import dev.verbscope.analyzer.ledger.ReceiveQueue;
import dev.verbscope.analyzer.ledger.WrList;
import dev.verbscope.analyzer.verbs.EventRef;
import dev.verbscope.analyzer.verbs.Moment;
import dev.verbscope.analyzer.verbs.VerbsSink;
import dev.verbscope.analyzer.verbs.WcStatus;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Completions with an error of their own, with the likely source for that driver (REQUIREMENTS.md F5). */
final class CompletionErrors implements Detector {
    private record Key(ReceiveQueue queue, boolean receive, int status) {}

    private static final class Seen {
        long count;
        long vendorErr = VerbsSink.UNKNOWN;
        boolean afterConnect;
        long wrId;
        long sgeLength = VerbsSink.UNKNOWN;
        long largestBefore = -1;
        final List<EventRef> evidence = new ArrayList<>();
    }

    private final Map<Key, Seen> seen = new LinkedHashMap<>();
    private final Map<ConsumerKey, Seen> toldByConsumers = new LinkedHashMap<>();
    private long connections;
    private long closed;

    private record ConsumerKey(String consumer, int status) {}

    @Override
    public void connected(Moment at, String consumer, int result) {
        // the first connection is no reconnect
        connections += closed > 0 ? 1 : 0;
    }

    @Override
    public void disconnected(Moment at) {
        closed++;
    }

    @Override
    public void consumerOtherCompletion(Moment at, String consumer, long cqId, long cid, int status, long vendorErr) {
        if (status == WcStatus.SUCCESS || status == WcStatus.WR_FLUSH_ERR) {
            return;
        }
        Seen entry = toldByConsumers.computeIfAbsent(new ConsumerKey(consumer, status), k -> new Seen());
        if (entry.count++ == 0) {
            entry.vendorErr = vendorErr;
        }
        if (entry.evidence.size() < MAX_EVIDENCE) {
            entry.evidence.add(at.ref(consumer + " cid=" + cid + " status " + WcStatus.name(status)));
        }
    }

    @Override
    public void received(Moment at, ReceiveQueue queue, int record, long wrId, int status, long byteLen) {
        if (status != WcStatus.SUCCESS && status != WcStatus.WR_FLUSH_ERR) {
            Seen entry = note(at, queue, true, wrId, status);
            if (record != WrList.NONE && entry.count == 1) {
                entry.sgeLength = queue.wrs().sgeLength(record);
                entry.evidence.add(0, queue.wrs().ref(record));
                entry.largestBefore = queue.largestReceived();
            }
        }
    }

    @Override
    public void otherCompletion(Moment at, ReceiveQueue queue, long wrId, int status) {
        if (status != WcStatus.SUCCESS && status != WcStatus.WR_FLUSH_ERR) {
            note(at, queue, false, wrId, status);
        }
    }

    private Seen note(Moment at, ReceiveQueue queue, boolean receive, long wrId, int status) {
        Seen entry = seen.computeIfAbsent(new Key(queue, receive, status), k -> new Seen());
        if (entry.count++ == 0) {
            entry.wrId = wrId;
            entry.vendorErr = queue.vendorErr();
            entry.afterConnect = connections > 0;
        }
        if (entry.evidence.size() < MAX_EVIDENCE) {
            entry.evidence.add(
                    at.ref(queue.name() + " wr_id=0x" + Long.toHexString(wrId) + " status " + WcStatus.name(status)));
        }
        return entry;
    }

    @Override
    public void finish(CaptureFacts capture, Consumer<Finding> findings) {
        seen.forEach((key, entry) -> {
            if (key.queue.joinedTo() == null) {
                findings.accept(key.receive ? receive(capture, key, entry) : other(key, entry));
            }
        });
        toldByConsumers.forEach((key, entry) -> {
            // the driver's own completion of the same status is the more exact witness
            if (seen.keySet().stream().noneMatch(k -> k.status == key.status && !k.receive)) {
                findings.accept(told(key, entry));
            }
        });
    }

    private static Finding told(ConsumerKey key, Seen entry) {
        boolean rnr = key.status == WcStatus.RNR_RETRY_EXC_ERR;
        Finding.Builder finding = Finding.of("completion-error", Severity.WARNING, Confidence.CERTAIN, null)
                .title(key.consumer + ": " + entry.count + (entry.count == 1 ? " send" : " sends") + " failed with "
                        + WcStatus.name(key.status))
                .cause(
                        rnr
                                ? "The peer had no receive posted, and the retries ran out."
                                : "The consumer was told so of a work request that is no receive.")
                .fact("status", key.status)
                .fact("status_name", WcStatus.name(key.status))
                .fact("count", entry.count)
                .evidence(entry.evidence)
                .advice(
                        rnr
                                ? "Look at the peer's receive queue: did it leak buffers, or was it filled too late?"
                                : "Look at the peer: REM_OP_ERR and REM_ACCESS_ERR are its refusal, RETRY_EXC_ERR its silence.");
        return vendor(finding, "", entry).build();
    }

    /** What the device's own code says, if it told one and it is known for the driver. */
    private static Finding.Builder vendor(Finding.Builder finding, String driver, Seen entry) {
        if (entry.vendorErr == VerbsSink.UNKNOWN || entry.vendorErr == 0) {
            return finding;
        }
        finding.fact("vendor_err", "0x" + Long.toHexString(entry.vendorErr));
        String name = driver.isEmpty() ? "mlx5" : driver;
        VendorError.of(name, entry.vendorErr)
                .ifPresent(known -> finding.alsoCause("vendor_err 0x" + Long.toHexString(entry.vendorErr) + " of "
                        + name
                        + (driver.isEmpty() ? ", if it is that driver," : "") + " says: " + known.meaning() + ". Check "
                        + known.check() + "."));
        return finding;
    }

    private static Finding receive(CaptureFacts capture, Key key, Seen entry) {
        ReceiveQueue queue = key.queue;
        DriverFacts driver = DriverFacts.ofModule(queue.driver());
        long flushed = queue.receives(WcStatus.WR_FLUSH_ERR);
        Finding.Builder finding = Finding.of("completion-error", Severity.ERROR, Confidence.CERTAIN, queue)
                .title(queue.name() + ": " + entry.count + (entry.count == 1 ? " receive" : " receives")
                        + " failed with " + WcStatus.name(key.status))
                .fact("status", key.status)
                .fact("status_name", WcStatus.name(key.status))
                .fact("count", entry.count)
                .fact("wr_id", "0x" + Long.toHexString(entry.wrId))
                .fact("flushed_after", flushed)
                .evidence(entry.evidence);
        if (queue.firstFlush() != null) {
            finding.evidence(queue.firstFlush());
        }
        boolean lengths = entry.sgeLength != VerbsSink.UNKNOWN;
        if (lengths) {
            finding.fact("posted_sge_length", entry.sgeLength);
            if (entry.largestBefore >= 0) {
                finding.fact("largest_received", entry.largestBefore);
            }
        }
        String source = source(key.status, driver);
        boolean shorter = lengths && entry.largestBefore >= 0 && entry.sgeLength < entry.largestBefore;
        if (shorter) {
            source += " The failing buffer has " + entry.sgeLength + " bytes and earlier messages had up to "
                    + entry.largestBefore + ": a short buffer is the likeliest.";
        }
        finding.fact("candidates", candidates(key.status, driver))
                .cause(source
                        + (flushed > 0 ? " The error took the QP to ERR, which flushed " + flushed + " more." : ""));
        String name = driver.doorbell() == DriverFacts.Doorbell.UNKNOWN ? "" : driver.name();
        vendor(finding, name, entry);
        if (queue.consumer().equals("xprtrdma") || queue.consumer().equals("rpcrdma")) {
            if (key.status == WcStatus.LOC_LEN_ERR && entry.afterConnect) {
                KernelLog.knownBugs(
                        finding, "length-error-after-reconnect", capture.info().kernel());
            } else if (key.status == WcStatus.LOC_PROT_ERR && entry.afterConnect) {
                KernelLog.knownBugs(
                        finding,
                        "protection-error-after-reconnect",
                        capture.info().kernel());
            }
        }
        return finding.advice(advice(key.status))
                .settle(
                        "probes that show the lkey and length of the failing WR, and MR registrations (mr_alloc, mr_dereg)")
                .build();
    }

    private static String candidates(int status, DriverFacts driver) {
        if (status == WcStatus.LOC_QP_OP_ERR && (driver.oneStatusForLocalErrors() || unknown(driver))) {
            return "lkey, access rights, buffer length";
        }
        return switch (status) {
            case WcStatus.LOC_LEN_ERR -> "buffer length";
            case WcStatus.LOC_PROT_ERR -> "lkey, access rights, DMA mapping";
            default -> "see cause";
        };
    }

    private static boolean unknown(DriverFacts driver) {
        return driver.doorbell() == DriverFacts.Doorbell.UNKNOWN;
    }

    private static String source(int status, DriverFacts driver) {
        if (status == WcStatus.LOC_QP_OP_ERR && (driver.oneStatusForLocalErrors() || unknown(driver))) {
            return "rxe gives this one status for a wrong lkey, for an MR without LOCAL_WRITE and for a buffer shorter"
                    + " than the message alike.";
        }
        return switch (status) {
            case WcStatus.LOC_LEN_ERR -> "The message was longer than the buffers of the WR.";
            case WcStatus.LOC_PROT_ERR ->
                "The lkey is wrong or of a deregistered MR, the MR lacks LOCAL_WRITE, or the DMA mapping is missing or"
                        + " stale.";
            default -> "The device reported " + WcStatus.name(status) + ".";
        };
    }

    private static String advice(int status) {
        return switch (status) {
            case WcStatus.LOC_LEN_ERR -> "Make the receive buffers as long as the longest message the peer may send.";
            default ->
                "Compare lkey, length and address of the failing WR with those of its neighbours, and look when its MR"
                        + " was registered and deregistered.";
        };
    }

    private static Finding other(Key key, Seen entry) {
        ReceiveQueue queue = key.queue;
        boolean rnr = key.status == WcStatus.RNR_RETRY_EXC_ERR;
        DriverFacts driver = DriverFacts.ofModule(queue.driver());
        Finding.Builder finding = Finding.of("completion-error", Severity.WARNING, Confidence.LIKELY, queue)
                .title(queue.name() + ": " + entry.count + (entry.count == 1 ? " completion" : " completions")
                        + " failed with " + WcStatus.name(key.status) + ", of the send side as it seems")
                .cause(
                        rnr
                                ? "The peer had no receive posted, and the retries ran out."
                                : "The work request is no receive that was posted in this capture; an error CQE does not say on"
                                        + " which side it is.")
                .fact("status", key.status)
                .fact("status_name", WcStatus.name(key.status))
                .fact("count", entry.count)
                .evidence(entry.evidence)
                .advice(
                        rnr
                                ? "Look at the peer's receive queue: did it leak buffers, or was it filled too late?"
                                : "Look at the peer: REM_OP_ERR and REM_ACCESS_ERR are its refusal, RETRY_EXC_ERR its silence.");
        return vendor(finding, driver.doorbell() == DriverFacts.Doorbell.UNKNOWN ? "" : driver.name(), entry)
                .build();
    }
}
