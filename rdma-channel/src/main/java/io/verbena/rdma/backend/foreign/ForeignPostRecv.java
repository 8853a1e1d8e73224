package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.SVCPostRecv;
import io.verbena.rdma.sys.Errno;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** A prepared ibv_post_recv(3). Not thread-safe; allocates nothing when executed. */
final class ForeignPostRecv extends SVCPostRecv {
    private final ForeignQp qp;
    private final MemorySegment function;
    private final ForeignRecvWr[] requests;
    private final MemorySegment bad = Arena.ofAuto().allocate(JAVA_LONG);
    private boolean valid = true;

    ForeignPostRecv(ForeignQp qp, List<IbvRecvWR> list) {
        if (list.isEmpty()) {
            throw new IllegalArgumentException("no receive requests");
        }
        this.qp = qp;
        this.function = qp.device().postRecv();
        requests = new ForeignRecvWr[list.size()];
        for (int i = 0; i < requests.length; i++) {
            requests[i] = new ForeignRecvWr(list.get(i));
        }
    }

    @Override
    public SVCPostRecv execute() throws IOException {
        if (!valid || !qp.isOpen()) {
            throw new IOException("ibv_post_recv: the queue pair is destroyed");
        }
        for (ForeignRecvWr request : requests) {
            for (int left = request.repeat(); left > 0; ) {
                int n = Math.min(left, request.maxChain());
                post(request.chain(n));
                left -= n;
            }
        }
        return this;
    }

    private void post(MemorySegment chain) throws IOException {
        int errno = FastPath.post(function, qp.handle(), chain, bad);
        if (errno != 0) {
            String why = Math.abs(errno) == Errno.ENOMEM
                    ? "ENOMEM (the receive queue is full)"
                    : Errno.describe(Math.abs(errno));
            throw new IOException("ibv_post_recv(qp_num=" + qp.number() + ") failed: " + why);
        }
    }

    @Override
    public RecvWRMod getWrMod(int index) {
        return requests[index];
    }

    @Override
    public boolean isValid() {
        return valid && qp.isOpen();
    }

    @Override
    public SVCPostRecv free() {
        valid = false;
        return this;
    }
}
