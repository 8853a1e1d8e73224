package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import java.io.IOException;

/** A prepared poll; {@link #execute} allocates nothing. Used by one thread at a time. */
final class SoftPollCq extends SVCPollCq {
    private final SoftCq cq;
    private final IbvWC[] wcs;
    private final int count;
    private int polls;
    private boolean valid = true;

    SoftPollCq(SoftCq cq, IbvWC[] wcs, int count) {
        this.cq = cq;
        this.wcs = wcs;
        this.count = Math.min(count, wcs.length);
    }

    @Override
    public int getPolls() {
        return polls;
    }

    @Override
    public SVCPollCq execute() throws IOException {
        polls = 0;
        polls = cq.take(wcs, count);
        return this;
    }

    @Override
    public boolean isValid() {
        return valid;
    }

    @Override
    public SVCPollCq free() {
        valid = false;
        return this;
    }
}
