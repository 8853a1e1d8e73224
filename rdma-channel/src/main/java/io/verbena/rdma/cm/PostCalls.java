package io.verbena.rdma.cm;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import io.verbena.rdma.verbs.RecvWr;
import io.verbena.rdma.verbs.SendWr;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedList;
import java.util.List;

/**
 * Prepared posts of one queue pair: nothing is allocated per use.
 *
 * <p>Sends are guarded by the stream's send lock, receives by its poll lock.
 */
public final class PostCalls {
    /** The wr_id of every receive: tells its error completions from those of sends, whose ids are not negative. */
    public static final long RECEIVE_ID = -1;

    private final SVCPostSend send;
    private final SendWr sendWr;
    private final SVCPostRecv receive;
    private final RecvWr receiveWr;

    PostCalls(IbvQP qp) throws IOException {
        send = qp.postSend(List.of(sendRequest()), null);
        sendWr = (SendWr) send.getWrMod(0);
        receive = qp.postRecv(List.of(receiveRequest()), null);
        receiveWr = (RecvWr) receive.getWrMod(0);
        receiveWr.setWr_id(RECEIVE_ID);
    }

    @SuppressWarnings("JdkObsolete") // DiSNI takes no other list
    private static IbvSendWR sendRequest() {
        var request = new IbvSendWR();
        request.setOpcode(IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM);
        var list = new LinkedList<IbvSge>();
        list.add(new IbvSge());
        request.setSg_list(list);
        request.setNum_sge(1);
        return request;
    }

    @SuppressWarnings("JdkObsolete")
    private static IbvRecvWR receiveRequest() {
        var request = new IbvRecvWR();
        request.setSg_list(new LinkedList<>());
        request.setNum_sge(0);
        return request;
    }

    /** Sets where the peer's ring is. */
    public void peerRing(int rkey) throws IOException {
        sendWr.getRdmaMod().setRkey(rkey);
    }

    /**
     * Posts an RDMA WRITE WITH IMM whose payload is taken from a buffer at once.
     *
     * @param source the buffer; its position is left alone
     * @param offset absolute index of the first byte
     * @param length bytes
     * @param remoteAddr where to, in the peer's ring
     * @param immediate the immediate
     * @param wrId the request's id
     * @param signalled whether it completes visibly
     * @throws IOException if the queue pair is in error
     */
    public void write(
            ByteBuffer source, int offset, int length, long remoteAddr, int immediate, long wrId, boolean signalled)
            throws IOException {
        sendWr.setInlineSource(source, offset, length);
        execute(remoteAddr, immediate, wrId, signalled);
    }

    /** Posts an RDMA WRITE WITH IMM of no bytes: a control message. Parameters as in {@link #write}. */
    public void control(long remoteAddr, int immediate, long wrId, boolean signalled) throws IOException {
        sendWr.setNum_sge(0);
        execute(remoteAddr, immediate, wrId, signalled);
    }

    private void execute(long remoteAddr, int immediate, long wrId, boolean signalled) throws IOException {
        sendWr.getRdmaMod().setRemote_addr(remoteAddr);
        sendWr.setImm_data(immediate);
        sendWr.setWr_id(wrId);
        sendWr.setSend_flags(IbvSendWR.IBV_SEND_INLINE | (signalled ? IbvSendWR.IBV_SEND_SIGNALED : 0));
        send.execute();
    }

    /**
     * Posts receives without scatter entries.
     *
     * @param count how many
     * @throws IOException if the receive queue is full or in error
     */
    public void postReceives(int count) throws IOException {
        receiveWr.setRepeat(count);
        receive.execute();
    }
}
