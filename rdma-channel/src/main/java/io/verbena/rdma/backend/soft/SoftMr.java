package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.SVCDeregMr;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** A registered memory region. Thread-safe. */
final class SoftMr extends IbvMr {
    private final SoftPd pd;
    private final MemorySegment memory;
    private final Runnable onDeregister;

    SoftMr(SoftPd pd, MemorySegment memory, int access, int lkey, int rkey, Runnable onDeregister) throws IOException {
        super(pd.getContext(), memory.address(), (int) memory.byteSize(), access, lkey, rkey, lkey);
        this.context = pd.getContext();
        this.addr = memory.address();
        this.length = (int) memory.byteSize();
        this.access = access;
        this.lkey = lkey;
        this.rkey = rkey;
        this.isOpen = true;
        this.pd = pd;
        this.memory = memory;
        this.onDeregister = onDeregister;
    }

    /** The memory; keeps the buffer behind it alive. */
    MemorySegment memory() {
        return memory;
    }

    /** Whether a range lies within the region. */
    boolean contains(long address, int bytes) {
        long at = address - memory.address();
        return bytes >= 0 && at >= 0 && at <= memory.byteSize() && bytes <= memory.byteSize() - at;
    }

    boolean allows(int wanted) {
        return (access & wanted) == wanted;
    }

    /** Takes the keys back. Idempotent. */
    synchronized void deregister() {
        if (isOpen) {
            isOpen = false;
            pd.deregister(this);
            onDeregister.run();
        }
    }

    @Override
    public SVCDeregMr deregMr() {
        return new SoftDeregMr(this);
    }

    @Override
    public int expPrefetchMr(long address, int bytes) {
        return 0;
    }
}
