package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostSend;
import io.verbena.rdma.verbs.SendWr;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;

/**
 * One {@code struct ibv_send_wr} in native memory, with its elements and a scratch area for inline data behind an
 * element of its own. Not thread-safe.
 */
final class ForeignSendWr implements SendWr, SVCPostSend.RdmaMod {
    private static final int INLINE = IbvSendWR.IBV_SEND_INLINE;

    private final MemorySegment wr;
    private final ForeignSge[] sges;
    private final long sgeList;
    private final ForeignSge inlineSge;
    private final long inlineSgeList;
    private final ByteBuffer scratch;

    private int flags;
    private int sgeCount;

    /** The payload if not null, instead of the elements. */
    private ByteBuffer source;

    private int sourceOffset;
    private int sourceLength;

    /**
     * Prepares a request.
     *
     * @param wr where the struct goes; other segments come from the same arena and are alive as long as this object
     * @param inlineBytes the queue pair's inline limit
     */
    ForeignSendWr(IbvSendWR request, MemorySegment wr, int inlineBytes, Arena arena) {
        this.wr = wr;
        List<IbvSge> list = request.getSg_list() == null ? List.of() : request.getSg_list();
        // The inline element comes first: its slice keeps the list's segment alive.
        MemorySegment elements = arena.allocate((list.size() + 1) * VerbsDescriptor.SGE_BYTES, Long.BYTES);
        MemorySegment area = arena.allocate(Math.max(1, inlineBytes), Long.BYTES);
        scratch = area.asByteBuffer().limit(inlineBytes);
        inlineSge = new ForeignSge(elements.asSlice(0, VerbsDescriptor.SGE_BYTES));
        inlineSge.setAddr(area.address());
        inlineSgeList = elements.address();
        sgeList = elements.address() + VerbsDescriptor.SGE_BYTES;
        ForeignSge.write(list, elements.asSlice(VerbsDescriptor.SGE_BYTES));
        sges = new ForeignSge[list.size()];
        for (int i = 0; i < sges.length; i++) {
            sges[i] = new ForeignSge(elements.asSlice((i + 1) * VerbsDescriptor.SGE_BYTES, VerbsDescriptor.SGE_BYTES));
        }
        sgeCount = Math.min(sges.length, request.getNum_sge() > 0 ? request.getNum_sge() : sges.length);
        flags = request.getSend_flags();
        setWr_id(request.getWr_id());
        setOpcode(request.getOpcode());
        setImm_data(request.getImm_data());
        setRemote_addr(request.getRdma().getRemote_addr());
        setRkey(request.getRdma().getRkey());
    }

    void linkTo(MemorySegment next) {
        wr.set(JAVA_LONG, VerbsDescriptor.SEND_NEXT, next.address());
    }

    /** Writes what depends on the payload; right before the post. */
    void prepare() throws IOException {
        if (source != null) {
            if (sourceLength > scratch.limit()) {
                throw new IOException("ibv_post_send: inline data of " + sourceLength + " bytes > max_inline_data="
                        + scratch.limit() + " of the queue pair");
            }
            scratch.put(0, source, sourceOffset, sourceLength);
            inlineSge.setLength(sourceLength);
            set(inlineSgeList, sourceLength == 0 ? 0 : 1, flags | INLINE);
        } else {
            set(sgeList, sgeCount, flags);
        }
    }

    private void set(long list, int count, int sendFlags) {
        wr.set(JAVA_LONG, VerbsDescriptor.SEND_SG_LIST, list);
        wr.set(JAVA_INT, VerbsDescriptor.SEND_NUM_SGE, count);
        wr.set(JAVA_INT, VerbsDescriptor.SEND_FLAGS, count == 0 ? sendFlags & ~INLINE : sendFlags);
    }

    @Override
    public void setOpcode(int opcode) {
        wr.set(JAVA_INT, VerbsDescriptor.SEND_OPCODE, opcode);
    }

    @Override
    public void setImm_data(int immediate) {
        wr.set(VerbsDescriptor.BE32, VerbsDescriptor.SEND_IMM_DATA, immediate);
    }

    @Override
    public void setNum_sge(int count) {
        if (count < 0 || count > sges.length) {
            throw new IllegalArgumentException("num_sge=" + count + ", prepared with " + sges.length);
        }
        sgeCount = count;
        source = null;
    }

    @Override
    public void setInlineSource(ByteBuffer buffer, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, buffer.limit());
        source = buffer;
        sourceOffset = offset;
        sourceLength = length;
    }

    @Override
    public void setWr_id(long id) {
        wr.set(JAVA_LONG, VerbsDescriptor.SEND_WR_ID, id);
    }

    @Override
    public long getWr_id() {
        return wr.get(JAVA_LONG, VerbsDescriptor.SEND_WR_ID);
    }

    @Override
    public void setSend_flags(int value) {
        flags = value;
    }

    @Override
    public int getSend_flags() {
        return flags;
    }

    @Override
    public int getNum_sge() {
        return sgeCount;
    }

    @Override
    public int getOpcode() {
        return wr.get(JAVA_INT, VerbsDescriptor.SEND_OPCODE);
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
    public void setRemote_addr(long address) {
        wr.set(JAVA_LONG, VerbsDescriptor.SEND_REMOTE_ADDR, address);
    }

    @Override
    public long getRemote_addr() {
        return wr.get(JAVA_LONG, VerbsDescriptor.SEND_REMOTE_ADDR);
    }

    @Override
    public void setRkey(int rkey) {
        wr.set(JAVA_INT, VerbsDescriptor.SEND_RKEY, rkey);
    }

    @Override
    public int getRkey() {
        return wr.get(JAVA_INT, VerbsDescriptor.SEND_RKEY);
    }

    /** The C struct has no such member. */
    @Override
    public void setReserved(int value) {}

    @Override
    public int getReserved() {
        return 0;
    }
}
