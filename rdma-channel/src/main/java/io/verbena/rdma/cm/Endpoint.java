package io.verbena.rdma.cm;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCmId;
import io.verbena.rdma.completion.CompletionPort;
import io.verbena.rdma.verbs.ConnectionId;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.RegisteredMemory;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The verbs objects of one connection: completion channel and queue, queue pair, receive ring; made in this order,
 * destroyed once in the reverse one, also when a step of the set-up fails.
 *
 * <p>Not thread-safe; {@link #close} is called when no other thread can be in any other method.
 */
public final class Endpoint implements AutoCloseable {
    /**
     * What to ask of the device.
     *
     * @param sendWrs send requests outstanding at most
     * @param recvWrs receive requests posted at most
     * @param ringBytes bytes of the receive ring
     * @param trailerBytes bytes behind the ring, for the peer to read
     * @param sendRingBytes bytes of the send ring; 0 if the device inlines every message
     * @param recvElementBytes bytes that a receive scatters: 4 with {@link #writeThenSend}, else 0
     */
    public record Sizes(
            int sendWrs, int recvWrs, int ringBytes, int trailerBytes, int sendRingBytes, int recvElementBytes) {
        /** Whether messages are RDMA WRITE and SEND, since the device has no RDMA WRITE WITH IMM. */
        public boolean writeThenSend() {
            return recvElementBytes > 0;
        }
    }

    private static final Logger LOG = System.getLogger("io.verbena.rdma.cm");
    private static final int POLL_BATCH = 32;
    private static final ConcurrentHashMap<IbvContext, IbvPd> PDS = new ConcurrentHashMap<>();

    private final RdmaCmId id;
    private final Sizes sizes;
    private final Device device;
    private IbvCompChannel channel;
    private IbvCQ cq;
    private IbvQP qp;
    private RegisteredMemory memory;
    private RegisteredMemory sendRing;
    private RegisteredMemory received;
    private CompletionPort port;
    private PostCalls posts;

    private Endpoint(RdmaCmId id, Sizes sizes, Device device) {
        this.id = id;
        this.sizes = sizes;
        this.device = device;
    }

    /**
     * Makes the objects and posts all receives, before the id connects or accepts.
     *
     * @param id an id whose route is resolved, or of a connect request; owned by the endpoint from now on
     * @throws IOException if a limit is reached; everything, the id included, is destroyed then
     */
    public static Endpoint create(RdmaCmId id, Sizes sizes) throws IOException {
        IbvContext context = id.getVerbs();
        var endpoint = new Endpoint(id, sizes, (Device) context);
        try {
            endpoint.open(context);
            return endpoint;
        } catch (IOException | RuntimeException e) {
            endpoint.close();
            throw e;
        }
    }

    private void open(IbvContext context) throws IOException {
        checkLimits();
        IbvPd pd = pd(context);
        channel = device.createCompChannel(id);
        cq = context.createCQ(channel, sizes.sendWrs + sizes.recvWrs, 0);
        qp = id.createQP(pd, attributes());
        int access = IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE;
        memory = device.allocate(id, pd, sizes.ringBytes + sizes.trailerBytes, access);
        port = new CompletionPort(cq, channel, POLL_BATCH);
        if (sizes.sendRingBytes > 0) {
            sendRing = device.allocate(id, pd, sizes.sendRingBytes, 0);
        }
        if (sizes.writeThenSend()) {
            int bytes = sizes.recvWrs * sizes.recvElementBytes;
            received = device.allocate(id, pd, bytes, IbvMr.IBV_ACCESS_LOCAL_WRITE);
        }
        posts = sizes.writeThenSend()
                ? new WriteThenSendCalls(qp, sendRing, received, sizes.recvWrs)
                : new WriteWithImmCalls(qp, sendRing);
        posts.postReceives(sizes.recvWrs);
    }

    private void checkLimits() throws IOException {
        checkLimit("sendWrCount", sizes.sendWrs, "max_qp_wr", device.maxQpWr());
        checkLimit("recvWrCount", sizes.recvWrs, "max_qp_wr", device.maxQpWr());
        checkLimit("cqEntries", sizes.sendWrs + sizes.recvWrs, "max_cqe", device.maxCqe());
    }

    private static void checkLimit(String what, int value, String limitName, int limit) throws IOException {
        if (value > limit) {
            throw new IOException(what + "=" + value + " > device " + limitName + "=" + limit);
        }
    }

    private static IbvPd pd(IbvContext context) throws IOException {
        IbvPd pd = PDS.get(context);
        if (pd == null) {
            pd = context.allocPd();
            IbvPd other = PDS.putIfAbsent(context, pd);
            if (other != null) {
                deallocate(pd);
                pd = other;
            }
        }
        return pd;
    }

    private static void deallocate(IbvPd pd) throws IOException {
        try {
            int unused = pd.deallocPd();
        } catch (IOException e) {
            throw e;
        } catch (Exception e) { // DiSNI declares no less
            throw new IOException("ibv_dealloc_pd failed", e);
        }
    }

    private IbvQPInitAttr attributes() {
        var attributes = new IbvQPInitAttr();
        attributes.setQp_type(IbvQP.IBV_QPT_RC);
        attributes.setSend_cq(cq);
        attributes.setRecv_cq(cq);
        attributes.cap().setMax_send_wr(sizes.sendWrs);
        attributes.cap().setMax_recv_wr(sizes.recvWrs);
        attributes.cap().setMax_send_sge(1);
        attributes.cap().setMax_recv_sge(1);
        attributes.cap().setMax_inline_data(device.maxInlineData());
        return attributes;
    }

    /** The connection's id. */
    public RdmaCmId id() {
        return id;
    }

    /** The device. */
    public Device device() {
        return device;
    }

    /** Its completion queue. */
    public CompletionPort port() {
        return port;
    }

    /** Its prepared post calls. */
    public PostCalls posts() {
        return posts;
    }

    /** The receive ring with the trailer behind it, in native byte order. */
    public ByteBuffer memory() {
        return memory.buffer();
    }

    /** The send ring; null if the device inlines every message. */
    public ByteBuffer sendRing() {
        return sendRing == null ? null : sendRing.buffer();
    }

    /** The region of {@link #memory}. */
    public IbvMr region() {
        return memory.mr();
    }

    /** Extensions of the id. */
    public ConnectionId connection() {
        return (ConnectionId) id;
    }

    /** Disconnects and destroys all. Idempotent; what fails is logged and the rest still destroyed. */
    @Override
    public void close() {
        if (qp != null) {
            quietly("rdma_disconnect", id::disconnect);
            quietly("rdma_destroy_qp", id::destroyQP);
            qp = null;
        }
        if (cq != null) {
            quietly("ibv_destroy_cq", cq::destroyCQ);
            cq = null;
        }
        if (channel != null) {
            quietly("ibv_destroy_comp_channel", channel::destroyCompChannel);
            channel = null;
        }
        memory = close(memory);
        sendRing = close(sendRing);
        received = close(received);
        if (id.isOpen()) {
            quietly("rdma_destroy_id", id::destroyId);
        }
    }

    private static RegisteredMemory close(RegisteredMemory memory) {
        if (memory != null) {
            memory.close();
        }
        return null;
    }

    private interface Call {
        int run() throws IOException;
    }

    private static void quietly(String what, Call call) {
        try {
            int unused = call.run();
        } catch (IOException e) {
            LOG.log(Level.DEBUG, what + " failed", e);
        }
    }
}
