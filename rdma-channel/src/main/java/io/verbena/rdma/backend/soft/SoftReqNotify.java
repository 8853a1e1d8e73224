package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.SVCReqNotify;

/** A prepared request for an event; {@link #execute} allocates nothing. */
final class SoftReqNotify extends SVCReqNotify {
    private final SoftCq cq;
    private final boolean solicitedOnly;
    private boolean valid = true;

    SoftReqNotify(SoftCq cq, boolean solicitedOnly) {
        this.cq = cq;
        this.solicitedOnly = solicitedOnly;
    }

    @Override
    public SVCReqNotify execute() {
        cq.arm(solicitedOnly);
        return this;
    }

    @Override
    public boolean isValid() {
        return valid;
    }

    @Override
    public SVCReqNotify free() {
        valid = false;
        return this;
    }
}
