package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostSend;
import io.verbena.rdma.verbs.SendWr;
import java.nio.ByteBuffer;

/** A send work request, prepared once and changed between posts. Not thread-safe. */
final class SoftSendWr implements SendWr, SVCPostSend.RdmaMod {
    long wrId;
    int opcode;
    int flags;
    int immediate;
    int sgeCount;
    SoftSge[] sges;
    long remoteAddress;
    int rkey;
    int reserved;
    /** The payload if not null, instead of the elements. */
    ByteBuffer inlineSource;

    int inlineOffset;
    int inlineLength;
    /** When a request that waits for a receive gives up, by System.nanoTime; 0 before its first try. */
    long deadlineNs;

    SoftSendWr(IbvSendWR wr) {
        wrId = wr.getWr_id();
        opcode = wr.getOpcode();
        flags = wr.getSend_flags();
        immediate = wr.getImm_data();
        remoteAddress = wr.getRdma().getRemote_addr();
        rkey = wr.getRdma().getRkey();
        int size = wr.getSg_list() == null ? 0 : wr.getSg_list().size();
        sges = new SoftSge[size];
        for (int i = 0; i < size; i++) {
            IbvSge sge = wr.getSg_list().get(i);
            sges[i] = new SoftSge(sge.getAddr(), sge.getLength(), sge.getLkey());
        }
        sgeCount = Math.min(size, wr.getNum_sge() > 0 ? wr.getNum_sge() : size);
    }

    /** A copy for the queue of waiting requests; inline data is copied, since its buffer is free after the post. */
    SoftSendWr(SoftSendWr other) {
        wrId = other.wrId;
        opcode = other.opcode;
        flags = other.flags;
        immediate = other.immediate;
        remoteAddress = other.remoteAddress;
        rkey = other.rkey;
        sgeCount = other.sgeCount;
        sges = new SoftSge[sgeCount];
        for (int i = 0; i < sgeCount; i++) {
            sges[i] = new SoftSge(other.sges[i].address, other.sges[i].length, other.sges[i].lkey);
        }
        if (other.inlineSource != null || (flags & IbvSendWR.IBV_SEND_INLINE) != 0) {
            inlineSource = other.copyPayload();
            inlineLength = inlineSource.remaining();
        }
    }

    private ByteBuffer copyPayload() {
        ByteBuffer copy = ByteBuffer.allocate(length());
        if (inlineSource != null) {
            return copy.put(0, inlineSource, inlineOffset, inlineLength);
        }
        for (int i = 0; i < sgeCount; i++) {
            SoftSge sge = sges[i];
            copy.put(SoftSge.ADDRESS_SPACE.asSlice(sge.address, sge.length).asByteBuffer());
        }
        return copy.flip();
    }

    /** Payload bytes; negative if the elements overflow. */
    int length() {
        if (inlineSource != null) {
            return inlineLength;
        }
        long total = 0;
        for (int i = 0; i < sgeCount; i++) {
            total += sges[i].length & 0xFFFFFFFFL;
        }
        return total > Integer.MAX_VALUE ? -1 : (int) total;
    }

    boolean isSignaled() {
        return (flags & IbvSendWR.IBV_SEND_SIGNALED) != 0;
    }

    boolean isSolicited() {
        return (flags & IbvSendWR.IBV_SEND_SOLICITED) != 0;
    }

    boolean isInline() {
        return (flags & IbvSendWR.IBV_SEND_INLINE) != 0;
    }

    @Override
    public void setOpcode(int value) {
        opcode = value;
    }

    @Override
    public void setImm_data(int value) {
        immediate = value;
    }

    @Override
    public void setNum_sge(int count) {
        if (count < 0 || count > sges.length) {
            throw new IllegalArgumentException("num_sge=" + count + ", prepared with " + sges.length);
        }
        sgeCount = count;
        inlineSource = null;
    }

    @Override
    public void setInlineSource(ByteBuffer source, int offset, int length) {
        java.util.Objects.checkFromIndexSize(offset, length, source.limit());
        inlineSource = source;
        inlineOffset = offset;
        inlineLength = length;
    }

    @Override
    public void setWr_id(long value) {
        wrId = value;
    }

    @Override
    public void setSend_flags(int value) {
        flags = value;
    }

    @Override
    public long getWr_id() {
        return wrId;
    }

    @Override
    public int getNum_sge() {
        return sgeCount;
    }

    @Override
    public int getOpcode() {
        return opcode;
    }

    @Override
    public int getSend_flags() {
        return flags;
    }

    @Override
    public SVCPostSend.RdmaMod getRdmaMod() {
        return this;
    }

    @Override
    public SVCPostSend.SgeMod getSgeMod(int index) {
        return sges[index];
    }

    @Override
    public void setRemote_addr(long value) {
        remoteAddress = value;
    }

    @Override
    public long getRemote_addr() {
        return remoteAddress;
    }

    @Override
    public void setRkey(int value) {
        rkey = value;
    }

    @Override
    public int getRkey() {
        return rkey;
    }

    @Override
    public void setReserved(int value) {
        reserved = value;
    }

    @Override
    public int getReserved() {
        return reserved;
    }
}
