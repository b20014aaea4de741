package dev.verbscope.kmodel.example;

import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.verbs.CompletionQueues;
import dev.verbscope.kmodel.verbs.DmaDirection;
import dev.verbscope.kmodel.verbs.IbCq;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.KernelBuffer;
import dev.verbscope.kmodel.verbs.QpType;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrOpcode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A consumer that sends numbered messages, so many of them under way at once. */
public final class Sender {
    private final Machine m;
    private final Task task = Task.process("tx", 5000, 1);
    private final KernelBuffer buffer;
    private final long dma;
    private final IbPd pd;
    private final IbCq cq;
    private final IbQp qp;
    private final IbWc[] wc = {new IbWc()};
    private final int bytes;
    private final long gapNanos;
    private final int window;
    private long posted;
    private long left;
    private long sent;
    private WcStatus last = WcStatus.SUCCESS;
    private Runnable finished = () -> {};

    /** One message at a time. */
    public Sender(Machine machine, int bytes, long gapNanos) {
        this(machine, bytes, gapNanos, 1);
    }

    /**
     * Makes the queues.
     *
     * @param bytes of a message
     * @param gapNanos from a completion to the next message
     * @param window messages under way at once, at most the depth of the send queue
     */
    public Sender(Machine machine, int bytes, long gapNanos, int window) {
        m = machine;
        this.window = window;
        this.bytes = bytes;
        this.gapNanos = gapNanos;
        pd = m.api.pds.ibAllocPd(m.device);
        cq = m.api.cqs.ibCreateCq(m.device, () -> m.kernel.sim().after(0, task, this::completed), null, 256, 0);
        qp = m.api.qps.ibCreateQp(pd, new IbQpInit(QpType.RC, new IbQpCap(1, 1), cq, cq, null));
        buffer = m.kernel.memory().kmalloc(bytes * window);
        dma = m.api.dma.ibDmaMapSingle(m.device, buffer.address, bytes * window, DmaDirection.TO_DEVICE);
        if (m.api.dma.ibDmaMappingError(m.device, dma) != 0) {
            throw new IllegalStateException("out of DMA space");
        }
    }

    /** The QP. */
    public IbQp qp() {
        return qp;
    }

    /** Messages that were received. */
    public long sent() {
        return sent;
    }

    /** How the last one ended. */
    public WcStatus last() {
        return last;
    }

    /** What a message with a number holds. */
    public static byte[] message(long number, int bytes) {
        return Arrays.copyOf(("message " + number).getBytes(StandardCharsets.US_ASCII), bytes);
    }

    /** Sends so many; calls when they are sent or one failed. */
    public void start(long messages, Runnable then) {
        left = messages;
        finished = then;
        for (int i = 0; i < Math.min(window, messages); i++) {
            m.kernel.sim().after(gapNanos, task, this::send);
        }
    }

    private void send() {
        int at = (int) (posted % window) * bytes;
        m.api.dma.ibDmaSyncSingleForCpu(m.device, dma, bytes * window, DmaDirection.TO_DEVICE);
        buffer.write(at, message(posted, bytes));
        m.api.dma.ibDmaSyncSingleForDevice(m.device, dma, bytes * window, DmaDirection.TO_DEVICE);
        IbSge sge = new IbSge();
        sge.addr = dma + at;
        sge.length = bytes;
        sge.lkey = pd.localDmaLkey;
        m.api.cqs.ibReqNotifyCq(cq, CompletionQueues.NEXT_COMP);
        m.api.qps.ibPostSend(qp, IbSendWr.of(WrOpcode.SEND, posted++, sge), null);
    }

    private void completed() {
        do {
            while (m.api.cqs.ibPollCq(cq, 1, wc, m.place("tx_done")) > 0) {
                last = wc[0].status;
                if (last != WcStatus.SUCCESS) {
                    finished.run();
                    return;
                }
                sent++;
                if (--left == 0) {
                    finished.run();
                } else if (left >= window) {
                    m.kernel.sim().after(gapNanos, task, this::send);
                }
            }
        } while (m.api.cqs.ibReqNotifyCq(cq, CompletionQueues.NEXT_COMP | CompletionQueues.REPORT_MISSED_EVENTS) > 0);
    }
}
