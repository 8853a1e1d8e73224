package io.verbena.rdma.backend.foreign;

import com.ibm.disni.verbs.SVCReqNotify;
import io.verbena.rdma.sys.Errno;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** A prepared ibv_req_notify_cq(3). Thread-safe; allocates nothing. */
final class ForeignReqNotify extends SVCReqNotify {
    private final ForeignCq cq;
    private final long handle;
    private final MemorySegment function;
    private final int solicitedOnly;

    ForeignReqNotify(ForeignCq cq, boolean solicitedOnly) throws IOException {
        this.cq = cq;
        this.handle = cq.handle();
        this.function = cq.device().reqNotifyCq();
        this.solicitedOnly = solicitedOnly ? 1 : 0;
    }

    @Override
    public SVCReqNotify execute() throws IOException {
        if (!cq.isOpen()) {
            throw new IOException("ibv_req_notify_cq: the completion queue is destroyed");
        }
        int errno = FastPath.reqNotifyCq(function, handle, solicitedOnly);
        if (errno != 0) {
            throw new IOException("ibv_req_notify_cq failed: " + Errno.describe(Math.abs(errno)));
        }
        return this;
    }

    @Override
    public boolean isValid() {
        return cq.isOpen();
    }

    @Override
    public SVCReqNotify free() {
        return this;
    }
}
