package io.verbena.rdma.cm;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import io.verbena.rdma.verbs.RecvWr;
import io.verbena.rdma.verbs.RegisteredMemory;
import io.verbena.rdma.verbs.SendWr;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * For devices without immediates (iWARP): DATA is an RDMA WRITE and a SEND of the immediate in network order, a control
 * message that SEND alone. Each receive has a slot of 4 bytes; receives complete in the order in which they were
 * posted, so two counters name the slots.
 *
 * <p>A slot is posted again before its message is handled, but after its immediate was taken. A peer that keeps to its
 * credits can't reach it before; one that does not garbles its own messages.
 */
final class WriteThenSendCalls extends PostCalls {
    private static final int SLOT_BYTES = Integer.BYTES;

    private final SVCPostSend data;
    private final SendWr dataWrite;
    private final SVCPostSend.SgeMod dataElement;
    private final SendWr dataSend;
    private final SVCPostSend control;
    private final SendWr controlSend;
    private final ByteBuffer immediateBytes = ByteBuffer.allocate(SLOT_BYTES);

    private final SVCPostRecv receive;
    private final SVCPostSend.SgeMod receiveElement;
    private final ByteBuffer slots;
    private final long slotsAddress;
    private final int slotCount;
    private int nextToPost;
    private int nextToTake;

    WriteThenSendCalls(IbvQP qp, RegisteredMemory sendRing, RegisteredMemory received, int slotCount)
            throws IOException {
        super(sendRing);
        IbvSendWR send = sendRequest(IbvSendWR.IBV_WR_SEND);
        data = qp.postSend(List.of(sendRequest(IbvSendWR.IBV_WR_RDMA_WRITE), send), null);
        dataWrite = (SendWr) data.getWrMod(0);
        dataElement = dataWrite.getSgeMod(0);
        dataSend = (SendWr) data.getWrMod(1);
        control = qp.postSend(List.of(send), null);
        controlSend = (SendWr) control.getWrMod(0);
        var element = new IbvSge();
        element.setLength(SLOT_BYTES);
        element.setLkey(received.mr().getLkey());
        receive = qp.postRecv(List.of(receiveRequest(List.of(element))), null);
        var receiveWr = (RecvWr) receive.getWrMod(0);
        receiveWr.setWr_id(RECEIVE_ID);
        receiveElement = receiveWr.getSgeMod(0);
        slots = received.buffer().duplicate().order(ByteOrder.BIG_ENDIAN);
        slotsAddress = received.mr().getAddr();
        this.slotCount = slotCount;
    }

    @Override
    public void peerRing(int rkey) throws IOException {
        dataWrite.getRdmaMod().setRkey(rkey);
    }

    @Override
    public void write(
            ByteBuffer source, int offset, int length, long remoteAddr, int immediate, long wrId, boolean signalled)
            throws IOException {
        dataWrite.setInlineSource(source, offset, length);
        executeData(true, remoteAddr, immediate, wrId, signalled);
    }

    @Override
    public void writeFromSendRing(int offset, int length, long remoteAddr, int immediate, long wrId, boolean signalled)
            throws IOException {
        fromSendRing(dataWrite, dataElement, offset, length);
        executeData(false, remoteAddr, immediate, wrId, signalled);
    }

    private void executeData(boolean inline, long remoteAddr, int immediate, long wrId, boolean signalled)
            throws IOException {
        dataWrite.getRdmaMod().setRemote_addr(remoteAddr);
        dataWrite.setWr_id(wrId - 1);
        dataWrite.setSend_flags(flags(inline, false));
        immediate(dataSend, immediate, wrId, signalled);
        data.execute();
    }

    @Override
    public void control(long remoteAddr, int immediate, long wrId, boolean signalled) throws IOException {
        immediate(controlSend, immediate, wrId, signalled);
        control.execute();
    }

    private void immediate(SendWr send, int immediate, long wrId, boolean signalled) {
        immediateBytes.putInt(0, immediate);
        send.setInlineSource(immediateBytes, 0, SLOT_BYTES);
        send.setWr_id(wrId);
        send.setSend_flags(flags(true, signalled));
    }

    @Override
    public void postReceives(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            receiveElement.setAddr(slotsAddress + (long) nextToPost * SLOT_BYTES);
            receive.execute();
            nextToPost = next(nextToPost);
        }
    }

    @Override
    public void takeImmediate(IbvWC completion) {
        completion.setImm_data(slots.getInt(nextToTake * SLOT_BYTES));
        nextToTake = next(nextToTake);
    }

    private int next(int slot) {
        return slot + 1 == slotCount ? 0 : slot + 1;
    }
}
