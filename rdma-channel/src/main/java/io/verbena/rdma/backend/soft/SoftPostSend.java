package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.SVCPostSend;
import io.verbena.rdma.verbs.SendWr;
import java.io.IOException;
import java.util.List;

/** A prepared post of send requests; {@link #execute} allocates nothing. Used by one thread at a time. */
final class SoftPostSend extends SVCPostSend {
    private final SendQueue queue;
    private final SoftSendWr[] wrs;
    private boolean valid = true;

    SoftPostSend(SendQueue queue, List<IbvSendWR> wrs) {
        this.queue = queue;
        this.wrs = wrs.stream().map(SoftSendWr::new).toArray(SoftSendWr[]::new);
    }

    @Override
    public SendWr getWrMod(int index) {
        return wrs[index];
    }

    @Override
    public SVCPostSend execute() throws IOException {
        queue.post(wrs);
        return this;
    }

    @Override
    public boolean isValid() {
        return valid;
    }

    @Override
    public SVCPostSend free() {
        valid = false;
        return this;
    }
}
