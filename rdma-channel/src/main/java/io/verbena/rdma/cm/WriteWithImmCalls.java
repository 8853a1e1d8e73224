package io.verbena.rdma.cm;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import io.verbena.rdma.verbs.RecvWr;
import io.verbena.rdma.verbs.RegisteredMemory;
import io.verbena.rdma.verbs.SendWr;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** Each message is one RDMA WRITE WITH IMM; receives have no elements. */
final class WriteWithImmCalls extends PostCalls {
    private final SVCPostSend send;
    private final SendWr sendWr;
    private final SVCPostSend.SgeMod element;
    private final SVCPostRecv receive;
    private final RecvWr receiveWr;

    WriteWithImmCalls(IbvQP qp, RegisteredMemory sendRing) throws IOException {
        super(sendRing);
        send = qp.postSend(List.of(sendRequest(IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM)), null);
        sendWr = (SendWr) send.getWrMod(0);
        element = sendWr.getSgeMod(0);
        receive = qp.postRecv(List.of(receiveRequest(List.of())), null);
        receiveWr = (RecvWr) receive.getWrMod(0);
        receiveWr.setWr_id(RECEIVE_ID);
    }

    @Override
    public void peerRing(int rkey) throws IOException {
        sendWr.getRdmaMod().setRkey(rkey);
    }

    @Override
    public void write(
            ByteBuffer source, int offset, int length, long remoteAddr, int immediate, long wrId, boolean signalled)
            throws IOException {
        sendWr.setInlineSource(source, offset, length);
        execute(remoteAddr, immediate, wrId, flags(true, signalled));
    }

    @Override
    public void writeFromSendRing(int offset, int length, long remoteAddr, int immediate, long wrId, boolean signalled)
            throws IOException {
        fromSendRing(sendWr, element, offset, length);
        execute(remoteAddr, immediate, wrId, flags(false, signalled));
    }

    @Override
    public void control(long remoteAddr, int immediate, long wrId, boolean signalled) throws IOException {
        sendWr.setNum_sge(0);
        execute(remoteAddr, immediate, wrId, flags(true, signalled));
    }

    private void execute(long remoteAddr, int immediate, long wrId, int flags) throws IOException {
        sendWr.getRdmaMod().setRemote_addr(remoteAddr);
        sendWr.setImm_data(immediate);
        sendWr.setWr_id(wrId);
        sendWr.setSend_flags(flags);
        send.execute();
    }

    @Override
    public void postReceives(int count) throws IOException {
        receiveWr.setRepeat(count);
        receive.execute();
    }

    /** It is in the completion. */
    @Override
    public void takeImmediate(IbvWC completion) {}
}
