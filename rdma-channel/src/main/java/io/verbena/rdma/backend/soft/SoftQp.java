package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import io.verbena.rdma.backend.soft.SegmentPool.Block;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A reliable connected queue pair.
 *
 * <pre>
 *   INIT --(connect / accept)--> RTS --(error, disconnect, peer's end)--> ERR
 *     '-----------------------------------------------------------------^
 * </pre>
 *
 * <p>In ERR what the peer had published is still completed, then every outstanding request is flushed. Thread-safe.
 */
final class SoftQp extends IbvQP {
    private static final AtomicInteger NUMBERS = new AtomicInteger(1);

    private final Connection connection;
    private final SoftPd softPd;
    private final SoftCq sendCq;
    private final SoftCq recvCq;
    private final Block block;
    private final int ringEntries;
    private final SendQueue sendQueue;
    private final ReceiveQueue receiveQueue;
    private final int maxSendSge;
    private final int maxRecvSge;
    private volatile boolean error;
    private boolean destroyed;

    private SoftQp(Connection connection, SoftPd pd, IbvQPInitAttr attr, Block block, int ringEntries)
            throws IOException {
        super(NUMBERS.getAndIncrement());
        this.connection = connection;
        this.block = block;
        this.ringEntries = ringEntries;
        softPd = pd;
        sendCq = (SoftCq) attr.getSend_cq();
        recvCq = (SoftCq) attr.getRecv_cq();
        maxSendSge = attr.cap().getMax_send_sge();
        maxRecvSge = attr.cap().getMax_recv_sge();
        sendQueue = new SendQueue(this, Math.max(1, attr.cap().getMax_send_wr()), attr.getSq_sig_all() != 0);
        receiveQueue = new ReceiveQueue(
                this,
                block.segment().memory.asSlice(block.offset(), block.bytes()),
                attr.cap().getMax_recv_wr(),
                ringEntries,
                maxRecvSge);
        context = pd.getContext();
        this.pd = pd;
        send_cq = sendCq;
        recv_cq = recvCq;
        qp_type = IBV_QPT_RC;
        handle = qp_num;
        state = IBV_QPS_INIT;
    }

    /**
     * Makes a queue pair on a connection: allocates its block.
     *
     * @throws IOException if a capability exceeds the device's, or memory can't be had
     */
    static SoftQp create(Connection connection, SoftPd pd, IbvQPInitAttr attr) throws IOException {
        if (!(attr.getSend_cq() instanceof SoftCq) || !(attr.getRecv_cq() instanceof SoftCq)) {
            throw new IOException("create_qp failed: EINVAL (a queue pair needs two completion queues of its device)");
        }
        check("max_send_wr", attr.cap().getMax_send_wr(), SoftContext.MAX_QP_WR);
        check("max_recv_wr", attr.cap().getMax_recv_wr(), SoftContext.MAX_QP_WR);
        check("max_send_sge", attr.cap().getMax_send_sge(), SoftContext.MAX_SGE);
        check("max_recv_sge", attr.cap().getMax_recv_sge(), SoftContext.MAX_SGE);
        int entries = BlockDescriptor.ringEntries(attr.cap().getMax_recv_wr());
        Block block = connection.allocate(BlockDescriptor.bytes(entries));
        SoftQp qp = new SoftQp(connection, pd, attr, block, entries);
        connection.keys().setBlock(qp.block.segment().memory.asSlice(block.offset(), block.bytes()));
        qp.sendCq.attach(qp);
        if (qp.recvCq != qp.sendCq) {
            qp.recvCq.attach(qp);
        }
        attr.cap().setMax_inline_data(Integer.MAX_VALUE);
        return qp;
    }

    private static void check(String name, int value, int max) throws IOException {
        if (value < 0 || value > max) {
            throw new IOException(
                    "create_qp failed: EINVAL (" + name + "=" + value + ", the soft device has " + max + ")");
        }
    }

    SoftPd pd() {
        return softPd;
    }

    SoftCq sendCq() {
        return sendCq;
    }

    SoftCq recvCq() {
        return recvCq;
    }

    Block block() {
        return block;
    }

    int ringEntries() {
        return ringEntries;
    }

    Connection connection() {
        return connection;
    }

    SendQueue sendQueue() {
        return sendQueue;
    }

    ReceiveQueue receiveQueue() {
        return receiveQueue;
    }

    int number() {
        return qp_num;
    }

    boolean isError() {
        return error;
    }

    /** The peer's memory is known: requests can be sent. */
    void start(PeerMemory peer, int rnrRetries) {
        sendQueue.start(connection, peer, rnrRetries);
    }

    /**
     * Goes to the error state: stops sending for good, flushes, and tells the peer by shutting the socket down. The
     * peer's device answers in the same way. Idempotent.
     */
    void fail() {
        synchronized (sendQueue) {
            if (error) {
                return;
            }
            error = true;
            sendQueue.stop();
        }
        connection.shutdown();
        sendCq.completed();
        recvCq.completed();
    }

    @Override
    public int getState() {
        return error ? IBV_QPS_ERR : connection.peer() == null ? IBV_QPS_INIT : IBV_QPS_RTS;
    }

    @Override
    public SVCPostSend postSend(List<IbvSendWR> wrs, List<IbvSendWR> bad) throws IOException {
        for (IbvSendWR wr : wrs) {
            if (wr.getSg_list() != null && wr.getSg_list().size() > maxSendSge) {
                throw new IOException("num_sge=" + wr.getSg_list().size() + " > max_send_sge=" + maxSendSge);
            }
        }
        return new SoftPostSend(sendQueue, wrs);
    }

    @Override
    public SVCPostRecv postRecv(List<IbvRecvWR> wrs, List<IbvRecvWR> bad) throws IOException {
        for (IbvRecvWR wr : wrs) {
            if (wr.getSg_list() != null && wr.getSg_list().size() > maxRecvSge) {
                throw new IOException("num_sge=" + wr.getSg_list().size() + " > max_recv_sge=" + maxRecvSge);
            }
        }
        return new SoftPostRecv(receiveQueue, wrs);
    }

    /** Destroys the queue pair: nothing of it may be in use by another thread. Idempotent. */
    synchronized void destroy() {
        if (destroyed) {
            return;
        }
        destroyed = true;
        isOpen = false;
        fail();
        sendCq.detach(this);
        recvCq.detach(this);
        connection.keys().setBlock(null);
        connection.free(block);
    }
}
