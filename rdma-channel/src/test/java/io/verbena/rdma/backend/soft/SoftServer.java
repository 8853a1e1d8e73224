package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.SVCReqNotify;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.RecvWr;
import io.verbena.rdma.verbs.RegisteredMemory;
import io.verbena.rdma.verbs.SendWr;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.util.List;

/** An honest listener on the soft device, and the connection that it accepted last. */
final class SoftServer implements AutoCloseable {
    static final int RING_BYTES = 64 * 1024;

    final ServerSocketChannel twin;
    final RdmaEventChannel channel;
    final RdmaCmId listener;
    final IbvWC[] wcs = new IbvWC[32];
    RdmaCmId id;
    IbvCompChannel comp;
    IbvCQ cq;
    IbvQP qp;
    RegisteredMemory ring;
    private SVCPollCq poll;
    private SVCPostSend send;
    private SVCPostRecv recv;

    SoftServer() throws IOException {
        twin = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        channel = new SoftBackend().createEventChannel();
        listener = channel.createId(RdmaCm.RDMA_PS_TCP);
        listener.bindAddr(twin.getLocalAddress());
        listener.listen(64);
        for (int i = 0; i < wcs.length; i++) {
            wcs[i] = new IbvWC();
        }
    }

    int port() {
        return twin.socket().getLocalPort();
    }

    RdmaCmEvent expect(EventType type) throws IOException {
        RdmaCmEvent event = channel.getCmEvent(5000);
        if (event == null || event.getEvent() != type.ordinal()) {
            throw new AssertionError("wanted " + type + ", got "
                    + (event == null ? "nothing" : EventType.values()[event.getEvent()] + "/" + event.getStatus()));
        }
        return event;
    }

    /** Takes the next request and makes its objects. */
    void prepare() throws IOException {
        id = expect(EventType.RDMA_CM_EVENT_CONNECT_REQUEST).getConnIdPriv();
        Device device = (Device) id.getVerbs();
        IbvPd pd = id.getVerbs().allocPd();
        comp = device.createCompChannel(id);
        cq = id.getVerbs().createCQ(comp, 1024, 0);
        poll = cq.poll(wcs, wcs.length);
        IbvQPInitAttr attr = new IbvQPInitAttr();
        attr.setSend_cq(cq);
        attr.setRecv_cq(cq);
        attr.cap().setMax_send_wr(256);
        attr.cap().setMax_recv_wr(RawClient.RING_ENTRIES);
        attr.cap().setMax_recv_sge(1);
        qp = id.createQP(pd, attr);
        ring = device.allocate(id, pd, RING_BYTES, IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE);
        send = qp.postSend(List.of(new IbvSendWR()), null);
        recv = qp.postRecv(List.of(new IbvRecvWR()), null);
    }

    void accept() throws IOException {
        prepare();
        id.accept(null);
    }

    void postRecv(int count) throws IOException {
        ((RecvWr) recv.getWrMod(0)).setRepeat(count);
        SVCPostRecv unused = recv.execute();
    }

    void write(int opcode, ByteBuffer data, long remoteAddress, int rkey) throws IOException {
        SendWr wr = (SendWr) send.getWrMod(0);
        wr.setOpcode(opcode);
        wr.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
        wr.setInlineSource(data, 0, data.limit());
        wr.getRdmaMod().setRemote_addr(remoteAddress);
        wr.getRdmaMod().setRkey(rkey);
        SVCPostSend unused = send.execute();
    }

    void arm() throws IOException {
        SVCReqNotify unused = cq.reqNotification(false).execute();
    }

    int poll() throws IOException {
        return poll.execute().getPolls();
    }

    /** Polls until a completion with a status comes. */
    void pollUntil(IbvWC.IbvWcStatus status) throws IOException {
        long deadline = System.nanoTime() + 5_000_000_000L;
        while (true) {
            int n = poll();
            for (int i = 0; i < n; i++) {
                if (wcs[i].getStatus() == status.ordinal()) {
                    return;
                }
            }
            if (System.nanoTime() > deadline) {
                throw new AssertionError("no completion with " + status);
            }
        }
    }

    /** Destroys the connection. */
    void drop() throws IOException {
        if (id == null) {
            return;
        }
        int unused = id.disconnect();
        unused = id.destroyQP();
        unused = cq.destroyCQ();
        ring.close();
        unused = id.destroyId();
        id = null;
    }

    @Override
    public void close() throws IOException {
        drop();
        int unused = listener.destroyId();
        while (channel.getCmEvent(0) != null) {}
        unused = channel.destroyEventChannel();
        twin.close();
    }
}
