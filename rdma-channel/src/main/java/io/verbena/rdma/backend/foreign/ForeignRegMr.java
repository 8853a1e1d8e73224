package io.verbena.rdma.backend.foreign;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.SVCRegMr;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/** A prepared ibv_reg_mr(3). Not thread-safe. */
final class ForeignRegMr extends SVCRegMr {
    private final ForeignPd pd;
    private final MemorySegment memory;
    private final long address;
    private final int length;
    private final int access;
    private ForeignMr mr;
    private boolean valid = true;

    /** {@code memory}, if not null, is kept alive until the registration is done; after it that is the caller's task. */
    ForeignRegMr(ForeignPd pd, MemorySegment memory, long address, int length, int access) {
        this.pd = pd;
        this.memory = memory;
        this.address = address;
        this.length = length;
        this.access = access;
    }

    @Override
    public SVCRegMr execute() throws IOException {
        try {
            mr = pd.register(address, length, access);
            return this;
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    @Override
    public IbvMr getMr() {
        return mr;
    }

    @Override
    public boolean isValid() {
        return valid;
    }

    @Override
    public SVCRegMr free() {
        valid = false;
        return this;
    }
}
