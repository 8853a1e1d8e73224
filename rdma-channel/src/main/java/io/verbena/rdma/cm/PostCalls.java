package io.verbena.rdma.cm;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPostSend;
import io.verbena.rdma.verbs.RegisteredMemory;
import io.verbena.rdma.verbs.SendWr;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedList;
import java.util.List;

/**
 * Prepared posts of one queue pair: nothing is allocated per use. How a message travels is up to the subclass
 * (PROTOCOL.md, section 4).
 *
 * <p>Sends are guarded by the stream's send lock, receives by its poll lock.
 */
public abstract class PostCalls {
    /** The wr_id of every receive: tells its error completions from those of sends, whose ids are not negative. */
    public static final long RECEIVE_ID = -1;

    private static final int INLINE = IbvSendWR.IBV_SEND_INLINE;

    private final long sendRingAddress;
    private final int sendRingKey;

    PostCalls(RegisteredMemory sendRing) {
        IbvMr mr = sendRing == null ? null : sendRing.mr();
        sendRingAddress = mr == null ? 0 : mr.getAddr();
        sendRingKey = mr == null ? 0 : mr.getLkey();
    }

    @SuppressWarnings("JdkObsolete") // DiSNI takes no other list
    static IbvSendWR sendRequest(int opcode) {
        var request = new IbvSendWR();
        request.setOpcode(opcode);
        var list = new LinkedList<IbvSge>();
        list.add(new IbvSge());
        request.setSg_list(list);
        request.setNum_sge(1);
        return request;
    }

    @SuppressWarnings("JdkObsolete")
    static IbvRecvWR receiveRequest(List<IbvSge> elements) {
        var request = new IbvRecvWR();
        request.setWr_id(RECEIVE_ID);
        request.setSg_list(new LinkedList<>(elements));
        request.setNum_sge(elements.size());
        return request;
    }

    /** Makes the payload of a request a piece of the send ring. */
    final void fromSendRing(SendWr wr, SVCPostSend.SgeMod element, int offset, int length) {
        wr.setNum_sge(1);
        element.setAddr(sendRingAddress + offset);
        element.setLength(length);
        element.setLkey(sendRingKey);
    }

    static int flags(boolean inline, boolean signalled) {
        return (inline ? INLINE : 0) | (signalled ? IbvSendWR.IBV_SEND_SIGNALED : 0);
    }

    /** Sets where the peer's ring is. */
    public abstract void peerRing(int rkey) throws IOException;

    /**
     * Posts a DATA message whose payload is taken from a buffer at once (inline).
     *
     * @param source the buffer; its position is left alone
     * @param offset absolute index of the first byte
     * @param length bytes, at most what the device inlines
     * @param remoteAddr where to, in the peer's ring
     * @param immediate the immediate
     * @param wrId the id of its last request
     * @param signalled whether it completes visibly
     * @throws IOException if the queue pair is in error
     */
    public abstract void write(
            ByteBuffer source, int offset, int length, long remoteAddr, int immediate, long wrId, boolean signalled)
            throws IOException;

    /**
     * Posts a DATA message whose payload lies in the send ring until it completes.
     *
     * @param offset its offset in the send ring; other parameters as in {@link #write}
     */
    public abstract void writeFromSendRing(
            int offset, int length, long remoteAddr, int immediate, long wrId, boolean signalled) throws IOException;

    /** Posts a control message, which has no bytes. Parameters as in {@link #write}. */
    public abstract void control(long remoteAddr, int immediate, long wrId, boolean signalled) throws IOException;

    /**
     * Posts receives.
     *
     * @param count how many
     * @throws IOException if the receive queue is full or in error
     */
    public abstract void postReceives(int count) throws IOException;

    /**
     * Sees to it that a completed receive holds the message's immediate. Called once for each, in the order of
     * completion, before its receive is posted again.
     */
    public abstract void takeImmediate(IbvWC completion);
}
