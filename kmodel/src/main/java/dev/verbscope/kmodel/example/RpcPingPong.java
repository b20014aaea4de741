package dev.verbscope.kmodel.example;

import dev.verbscope.kmodel.sim.Task;
import dev.verbscope.kmodel.verbs.CorePolledCq;
import dev.verbscope.kmodel.verbs.DmaDirection;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbQp;
import dev.verbscope.kmodel.verbs.IbQpCap;
import dev.verbscope.kmodel.verbs.IbQpInit;
import dev.verbscope.kmodel.verbs.IbRecvWr;
import dev.verbscope.kmodel.verbs.IbSendWr;
import dev.verbscope.kmodel.verbs.IbSge;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.KernelBuffer;
import dev.verbscope.kmodel.verbs.WcStatus;
import dev.verbscope.kmodel.verbs.WrOpcode;
import dev.verbscope.kmodel.verbs.WrRef;
import java.util.function.UnaryOperator;

/**
 * Calls and replies over SEND and RECV, on CQs that the core polls. The receive for the answer is posted before the call
 * goes out, or the peer could meet an empty queue; a buffer goes back before its answer is sent.
 */
public final class RpcPingPong {
    private static final int BYTES = 512;
    private static final int DEPTH = 8;
    private static final long SEND_ID = 1L << 40;

    /** One end: a QP, receive buffers, a send buffer. */
    public static final class End {
        private final Machine m;
        private final IbPd pd;
        private final CorePolledCq cq;
        private final IbQp qp;
        private final KernelBuffer[] in = new KernelBuffer[DEPTH];
        private final long[] inDma = new long[DEPTH];
        private final KernelBuffer out;
        private final long outDma;
        private final UnaryOperator<byte[]> answer;
        private long sends;
        private boolean failed;

        /**
         * @param answer makes a message to send back of one that came; null sends none
         */
        End(Machine machine, UnaryOperator<byte[]> answer) {
            m = machine;
            this.answer = answer;
            pd = m.api.pds.ibAllocPd(m.device);
            cq = new CorePolledCq(
                    m.kernel,
                    m.api.verbs,
                    m.device,
                    4 * DEPTH,
                    this::done,
                    () -> {},
                    Task.softirq(1, 21),
                    m.place("__ib_process_cq"));
            qp = m.api.qps.ibCreateQp(pd, IbQpInit.rc(new IbQpCap(DEPTH, 1), cq.cq()));
            for (int i = 0; i < DEPTH; i++) {
                in[i] = m.kernel.memory().kmalloc(BYTES);
                inDma[i] = map(in[i], DmaDirection.FROM_DEVICE);
            }
            out = m.kernel.memory().kmalloc(BYTES);
            outDma = map(out, DmaDirection.TO_DEVICE);
        }

        private long map(KernelBuffer buffer, DmaDirection direction) {
            long at = m.api.dma.ibDmaMapSingle(m.device, buffer.address, BYTES, direction);
            if (m.api.dma.ibDmaMappingError(m.device, at) != 0) {
                throw new IllegalStateException("out of DMA space");
            }
            return at;
        }

        private IbSge sge(long at) {
            IbSge sge = new IbSge();
            sge.addr = at;
            sge.length = BYTES;
            sge.lkey = pd.localDmaLkey;
            return sge;
        }

        private void fill() {
            IbRecvWr head = null;
            for (int i = DEPTH - 1; i >= 0; i--) {
                IbRecvWr wr = recv(i);
                wr.next = head;
                head = wr;
            }
            if (head != null) {
                failed |= m.api.verbs.ibPostRecv(qp, head, new WrRef(1), m.place("rpc_fill")) != 0;
            }
        }

        private IbRecvWr recv(int i) {
            IbRecvWr wr = new IbRecvWr(in[i].address - 64);
            wr.wrId = i;
            wr.sgList = new IbSge[] {sge(inDma[i])};
            wr.numSge = 1;
            return wr;
        }

        private void done(IbWc wc) {
            if (wc.status != WcStatus.SUCCESS) {
                failed |= wc.status != WcStatus.WR_FLUSH_ERR;
                return;
            }
            if (wc.wrId >= SEND_ID) {
                return;
            }
            int i = (int) wc.wrId;
            m.api.dma.ibDmaSyncSingleForCpu(m.device, inDma[i], BYTES, DmaDirection.FROM_DEVICE);
            byte[] message = in[i].read(0, wc.byteLen);
            m.api.dma.ibDmaSyncSingleForDevice(m.device, inDma[i], BYTES, DmaDirection.FROM_DEVICE);
            failed |= m.api.verbs.ibPostRecv(qp, recv(i), new WrRef(1), m.place("rpc_done")) != 0;
            byte[] back = answer.apply(message);
            if (back.length > 0) {
                send(back);
            }
        }

        private void send(byte[] message) {
            m.api.dma.ibDmaSyncSingleForCpu(m.device, outDma, BYTES, DmaDirection.TO_DEVICE);
            out.write(0, message);
            m.api.dma.ibDmaSyncSingleForDevice(m.device, outDma, BYTES, DmaDirection.TO_DEVICE);
            IbSge sge = sge(outDma);
            sge.length = message.length;
            failed |= m.api.qps.ibPostSend(qp, IbSendWr.of(WrOpcode.SEND, SEND_ID + sends++, sge), null) != 0;
        }

        private void close() {
            m.toError(qp);
            m.kernel.sim().after(1_000_000, Task.process("rpc_close", 77, 0), () -> {
                m.api.qps.ibDestroyQp(qp);
                cq.free();
                for (int i = 0; i < DEPTH; i++) {
                    m.api.dma.ibDmaUnmapSingle(m.device, inDma[i], BYTES, DmaDirection.FROM_DEVICE);
                    m.kernel.memory().kfree(in[i]);
                }
                m.api.dma.ibDmaUnmapSingle(m.device, outDma, BYTES, DmaDirection.TO_DEVICE);
                m.kernel.memory().kfree(out);
                m.api.pds.ibDeallocPd(pd);
            });
        }
    }

    private final End client;
    private final End server;
    private final int calls;
    private int answered;
    private boolean wrong;

    /** Connects two machines for so many calls. */
    public RpcPingPong(Machine clientMachine, Machine serverMachine, int calls) {
        this.calls = calls;
        server = new End(serverMachine, RpcPingPong::reversed);
        client = new End(clientMachine, this::next);
        clientMachine.init(client.qp, 0);
        serverMachine.init(server.qp, 0);
        client.fill();
        server.fill();
        clientMachine.connect(client.qp, serverMachine, server.qp, 0);
        serverMachine.connect(server.qp, clientMachine, client.qp, 0);
    }

    private static byte[] reversed(byte[] message) {
        byte[] out = new byte[message.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = message[out.length - 1 - i];
        }
        return out;
    }

    private byte[] next(byte[] reply) {
        byte[] expected = reversed(Sender.message(answered, 100));
        wrong |= !java.util.Arrays.equals(reply, expected);
        if (++answered == calls) {
            client.close();
            server.close();
            return new byte[0];
        }
        return Sender.message(answered, 100);
    }

    /** The first call; the others follow their answers. Run the simulator then. */
    public void start() {
        client.send(Sender.message(0, 100));
    }

    /** Calls whose answers came. */
    public int answered() {
        return answered;
    }

    /** Whether every answer was the right one and nothing failed. */
    public boolean good() {
        return !wrong && !client.failed && !server.failed;
    }
}
