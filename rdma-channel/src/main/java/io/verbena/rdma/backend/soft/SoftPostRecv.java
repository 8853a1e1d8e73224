package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.SVCPostRecv;
import io.verbena.rdma.verbs.RecvWr;
import java.io.IOException;
import java.util.List;

/** A prepared post of receive requests; {@link #execute} allocates nothing. Used by one thread at a time. */
final class SoftPostRecv extends SVCPostRecv {
    private final ReceiveQueue queue;
    private final SoftRecvWr[] wrs;
    private boolean valid = true;

    SoftPostRecv(ReceiveQueue queue, List<IbvRecvWR> wrs) {
        this.queue = queue;
        this.wrs = wrs.stream().map(SoftRecvWr::new).toArray(SoftRecvWr[]::new);
    }

    @Override
    public RecvWr getWrMod(int index) {
        return wrs[index];
    }

    @Override
    public SVCPostRecv execute() throws IOException {
        queue.post(wrs);
        return this;
    }

    @Override
    public boolean isValid() {
        return valid;
    }

    @Override
    public SVCPostRecv free() {
        valid = false;
        return this;
    }
}
