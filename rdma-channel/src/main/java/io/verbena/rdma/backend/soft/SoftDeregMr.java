package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.SVCDeregMr;

/** A prepared deregistration. */
final class SoftDeregMr extends SVCDeregMr {
    private final SoftMr mr;
    private boolean valid = true;

    SoftDeregMr(SoftMr mr) {
        this.mr = mr;
    }

    @Override
    public SVCDeregMr execute() {
        mr.deregister();
        return this;
    }

    @Override
    public boolean isValid() {
        return valid;
    }

    @Override
    public SVCDeregMr free() {
        valid = false;
        return this;
    }
}
