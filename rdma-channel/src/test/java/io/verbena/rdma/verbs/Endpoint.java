package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;

/** One side of a connection under test, at the level of DiSNI's API; for any backend ({@code io.verbena.verbs}). */
@SuppressWarnings("JdkObsolete") // DiSNI takes LinkedLists
final class Endpoint implements AutoCloseable {
    static final long DEADLINE_MS = 10_000;
    static final int REMOTE_WRITE = IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE;

    /** What an endpoint is made with. */
    record Caps(int sendWr, int recvWr, int cqe, int ringBytes, boolean ownCompChannel) {
        static final Caps DEFAULT = new Caps(128, 256, 512, 64 * 1024, true);

        Caps withRecvWr(int n) {
            return new Caps(sendWr, n, cqe, ringBytes, ownCompChannel);
        }

        Caps withCqe(int n) {
            return new Caps(sendWr, recvWr, n, ringBytes, ownCompChannel);
        }

        Caps withRing(int n) {
            return new Caps(sendWr, recvWr, cqe, n, ownCompChannel);
        }

        Caps withSharedCompChannel() {
            return new Caps(sendWr, recvWr, cqe, ringBytes, false);
        }
    }

    final RdmaEventChannel channel;
    final RdmaCmId id;
    final IbvPd pd;
    final IbvCompChannel comp;
    final IbvCQ cq;
    final IbvQP qp;
    final RegisteredMemory ring;
    final IbvWC[] wcs = new IbvWC[64];
    private final List<IbvWC> reaped = new ArrayList<>();
    private final SVCPollCq poll;
    private final SVCPostSend send;
    private final SVCPostRecv recv;
    /** The peer's ring, once known. */
    long remoteAddress;

    int remoteKey;

    Endpoint(RdmaEventChannel channel, RdmaCmId id, Caps caps) throws IOException {
        this.channel = channel;
        this.id = id;
        Device device = (Device) id.getVerbs();
        pd = id.getVerbs().allocPd();
        comp = caps.ownCompChannel()
                ? device.createCompChannel(id)
                : id.getVerbs().createCompChannel();
        cq = id.getVerbs().createCQ(comp, caps.cqe(), 0);
        IbvQPInitAttr attr = new IbvQPInitAttr();
        attr.setQp_type(IbvQP.IBV_QPT_RC);
        attr.setSend_cq(cq);
        attr.setRecv_cq(cq);
        attr.cap().setMax_send_wr(caps.sendWr());
        attr.cap().setMax_recv_wr(caps.recvWr());
        attr.cap().setMax_send_sge(4);
        attr.cap().setMax_recv_sge(4);
        attr.cap().setMax_inline_data(device.maxInlineData());
        qp = id.createQP(pd, attr);
        ring = device.allocate(id, pd, caps.ringBytes(), REMOTE_WRITE);
        for (int i = 0; i < wcs.length; i++) {
            wcs[i] = new IbvWC();
        }
        poll = cq.poll(wcs, wcs.length);
        IbvSendWR wr = new IbvSendWR();
        wr.setOpcode(IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM);
        wr.setSg_list(new LinkedList<>());
        send = qp.postSend(List.of(wr), null);
        recv = qp.postRecv(List.of(new IbvRecvWR()), null);
    }

    /** Waits for an event, which must be of a type. */
    static RdmaCmEvent expect(RdmaEventChannel channel, EventType type) throws IOException {
        RdmaCmEvent event = channel.getCmEvent((int) DEADLINE_MS);
        if (event == null) {
            throw new AssertionError("no event within " + DEADLINE_MS + " ms; wanted " + type);
        }
        event.ackEvent();
        if (event.getEvent() != type.ordinal()) {
            throw new AssertionError("wanted " + type + ", got " + EventType.values()[event.getEvent()] + " status "
                    + event.getStatus());
        }
        return event;
    }

    /** Resolves an id towards an address. */
    static RdmaCmId resolve(RdmaEventChannel channel, InetSocketAddress to) throws IOException {
        RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
        id.resolveAddr(null, to, 1000);
        RdmaCmEvent unused = expect(channel, EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
        id.resolveRoute(1000);
        unused = expect(channel, EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
        return id;
    }

    /** Private data that names this side's ring. */
    ByteBuffer describeRing() {
        return ByteBuffer.allocate(12)
                .putLong(ring.mr().getAddr())
                .putInt(ring.mr().getRkey())
                .flip();
    }

    void learnRing(ByteBuffer privateData) {
        remoteAddress = privateData.getLong(0);
        remoteKey = privateData.getInt(8);
    }

    static ConnParam param(ByteBuffer privateData) {
        ConnParam param = new ConnParam();
        param.setPrivateData(privateData);
        return param;
    }

    // --- requests --------------------------------------------------------------------------------------------------

    void postRecv(int count) throws IOException {
        RecvWr wr = (RecvWr) recv.getWrMod(0);
        wr.setWr_id(7);
        wr.setRepeat(count);
        SVCPostRecv unused = recv.execute();
    }

    /** Posts a receive with one element. */
    void postRecv(long wrId, IbvMr mr, int offset, int length) throws IOException {
        IbvRecvWR wr = new IbvRecvWR();
        wr.setWr_id(wrId);
        wr.setSg_list(new LinkedList<>(List.of(sge(mr, offset, length))));
        wr.setNum_sge(1);
        SVCPostRecv unused = qp.postRecv(List.of(wr), null).execute().free();
    }

    static IbvSge sge(IbvMr mr, int offset, int length) {
        IbvSge sge = new IbvSge();
        sge.setAddr(mr.getAddr() + offset);
        sge.setLength(length);
        sge.setLkey(mr.getLkey());
        return sge;
    }

    /** Writes inline into the peer's ring, with an immediate. */
    void writeImm(ByteBuffer data, int ringOffset, int immediate, int flags) throws IOException {
        postInline(IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM, data, ringOffset, immediate, flags);
    }

    void postInline(int opcode, ByteBuffer data, int ringOffset, int immediate, int flags) throws IOException {
        SendWr wr = (SendWr) send.getWrMod(0);
        wr.setWr_id(immediate);
        wr.setOpcode(opcode);
        wr.setImm_data(immediate);
        wr.setSend_flags(flags | IbvSendWR.IBV_SEND_INLINE);
        wr.setInlineSource(data, data.position(), data.remaining());
        wr.getRdmaMod().setRemote_addr(remoteAddress + ringOffset);
        wr.getRdmaMod().setRkey(remoteKey);
        SVCPostSend unused = send.execute();
    }

    /** Posts a request with elements. */
    void postSges(int opcode, List<IbvSge> sges, int ringOffset, int immediate, int flags) throws IOException {
        IbvSendWR wr = new IbvSendWR();
        wr.setWr_id(immediate);
        wr.setOpcode(opcode);
        wr.setImm_data(immediate);
        wr.setSend_flags(flags);
        wr.setSg_list(new LinkedList<>(sges));
        wr.setNum_sge(sges.size());
        wr.getRdma().setRemote_addr(remoteAddress + ringOffset);
        wr.getRdma().setRkey(remoteKey);
        SVCPostSend unused = qp.postSend(List.of(wr), null).execute().free();
    }

    // --- completions -----------------------------------------------------------------------------------------------

    /** Polls once; the completions are in {@link #wcs}. */
    int pollOnce() throws IOException {
        return poll.execute().getPolls();
    }

    /** Polls until so many completions came, and returns copies; what came beyond is kept for the next call. */
    List<IbvWC> reap(int count) throws IOException {
        long deadline = System.nanoTime() + DEADLINE_MS * 1_000_000;
        while (reaped.size() < count) {
            int n = pollOnce();
            for (int i = 0; i < n; i++) {
                reaped.add(wcs[i].clone());
            }
            if (n == 0 && System.nanoTime() > deadline) {
                throw new AssertionError("only " + reaped.size() + " of " + count + " completions came");
            }
            if (n == 0) {
                Thread.onSpinWait();
            }
        }
        List<IbvWC> first = List.copyOf(reaped.subList(0, count));
        reaped.subList(0, count).clear();
        return first;
    }

    void arm(boolean solicitedOnly) throws IOException {
        var unused = cq.reqNotification(solicitedOnly).execute().free();
    }

    /** A status by name, for messages of failed assertions. */
    static IbvWC.IbvWcStatus status(IbvWC wc) {
        return IbvWC.IbvWcStatus.values()[wc.getStatus()];
    }

    ByteBuffer ringBytes(int offset, int length) {
        return ring.buffer().slice(offset, length);
    }

    @Override
    public void close() throws IOException {
        int unused;
        try {
            unused = id.disconnect();
        } catch (IOException e) {
            unused = -1; // it was never connected
        }
        unused = id.destroyQP();
        unused = cq.destroyCQ();
        ring.close();
        unused = comp.destroyCompChannel();
        unused = id.destroyId();
    }
}
