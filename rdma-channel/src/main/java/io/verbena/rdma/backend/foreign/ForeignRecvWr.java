package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostSend;
import io.verbena.rdma.verbs.RecvWr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

/**
 * A receive request as a chain of equal {@code struct ibv_recv_wr}s in native memory, so that many can be posted by few
 * calls: the last n of the chain are a chain of n. Not thread-safe.
 */
final class ForeignRecvWr implements RecvWr {
    private static final int MAX_CHAIN = 64;

    private final MemorySegment elements;
    private final int sgeCount;
    private MemorySegment chain;
    private MemorySegment[] tails;
    private long wrId;
    private int repeat = 1;

    ForeignRecvWr(IbvRecvWR request) {
        List<IbvSge> list = request.getSg_list() == null ? List.of() : request.getSg_list();
        elements = Arena.ofAuto().allocate(Math.max(1, list.size()) * VerbsDescriptor.SGE_BYTES, Long.BYTES);
        ForeignSge.write(list, elements);
        sgeCount = list.size();
        wrId = request.getWr_id();
        build(1);
    }

    private void build(int length) {
        chain = Arena.ofAuto().allocate(length * VerbsDescriptor.RECV_WR_BYTES, Long.BYTES);
        tails = new MemorySegment[length + 1];
        for (int i = 0; i < length; i++) {
            MemorySegment wr = chain.asSlice(i * VerbsDescriptor.RECV_WR_BYTES);
            wr.set(
                    JAVA_LONG,
                    VerbsDescriptor.RECV_NEXT,
                    i + 1 < length ? wr.address() + VerbsDescriptor.RECV_WR_BYTES : 0);
            wr.set(JAVA_LONG, VerbsDescriptor.RECV_SG_LIST, sgeCount == 0 ? 0 : elements.address());
            wr.set(JAVA_INT, VerbsDescriptor.RECV_NUM_SGE, sgeCount);
            tails[length - i] = wr;
        }
        setWr_id(wrId);
    }

    /** How many requests to post. */
    int repeat() {
        return repeat;
    }

    /** The most requests that one call posts. */
    int maxChain() {
        return tails.length - 1;
    }

    /** A chain of {@code count} requests. */
    MemorySegment chain(int count) {
        return tails[count];
    }

    @Override
    public void setWr_id(long id) {
        wrId = id;
        for (long at = VerbsDescriptor.RECV_WR_ID; at < chain.byteSize(); at += VerbsDescriptor.RECV_WR_BYTES) {
            chain.set(JAVA_LONG, at, id);
        }
    }

    @Override
    public long getWr_id() {
        return wrId;
    }

    @Override
    public SVCPostSend.SgeMod getSgeMod(int index) {
        Objects.checkIndex(index, sgeCount);
        return new ForeignSge(elements.asSlice(index * VerbsDescriptor.SGE_BYTES, VerbsDescriptor.SGE_BYTES));
    }

    @Override
    public void setRepeat(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("repeat=" + count + " < 1");
        }
        if (count > maxChain() && maxChain() < MAX_CHAIN) {
            build(MAX_CHAIN);
        }
        repeat = count;
    }
}
