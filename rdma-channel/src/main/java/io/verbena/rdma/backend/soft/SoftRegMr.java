package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.SVCRegMr;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** A prepared registration. */
final class SoftRegMr extends SVCRegMr {
    private final SoftPd pd;
    private final MemorySegment memory;
    private final int access;
    private SoftMr mr;
    private boolean valid = true;

    SoftRegMr(SoftPd pd, MemorySegment memory, int access) {
        this.pd = pd;
        this.memory = memory;
        this.access = access;
    }

    @Override
    public IbvMr getMr() {
        return mr;
    }

    @Override
    public SVCRegMr execute() throws IOException {
        mr = pd.register(memory, access, 0, () -> {});
        return this;
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
