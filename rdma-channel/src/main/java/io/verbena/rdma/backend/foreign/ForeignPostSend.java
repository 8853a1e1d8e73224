package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.SVCPostSend;
import io.verbena.rdma.sys.Errno;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** A prepared ibv_post_send(3) of a chain of requests. Not thread-safe; allocates nothing when executed. */
final class ForeignPostSend extends SVCPostSend {
    private final ForeignQp qp;
    private final MemorySegment function;
    private final ForeignSendWr[] requests;
    private final MemorySegment chain;
    private final MemorySegment bad;
    private boolean valid = true;

    ForeignPostSend(ForeignQp qp, List<IbvSendWR> list) {
        if (list.isEmpty()) {
            throw new IllegalArgumentException("no send requests");
        }
        this.qp = qp;
        this.function = qp.device().postSend();
        Arena arena = Arena.ofAuto();
        chain = arena.allocate(list.size() * VerbsDescriptor.SEND_WR_BYTES, Long.BYTES);
        bad = arena.allocate(JAVA_LONG);
        requests = new ForeignSendWr[list.size()];
        for (int i = 0; i < requests.length; i++) {
            requests[i] = new ForeignSendWr(list.get(i), slice(i), qp.inlineBytes(), arena);
            if (i > 0) {
                requests[i - 1].linkTo(slice(i));
            }
        }
    }

    private MemorySegment slice(int i) {
        return chain.asSlice(i * VerbsDescriptor.SEND_WR_BYTES, VerbsDescriptor.SEND_WR_BYTES);
    }

    @Override
    public SVCPostSend execute() throws IOException {
        if (!valid || !qp.isOpen()) {
            throw new IOException("ibv_post_send: the queue pair is destroyed");
        }
        for (ForeignSendWr request : requests) {
            request.prepare();
        }
        int errno = FastPath.post(function, qp.handle(), chain, bad);
        if (errno != 0) {
            throw failure(Math.abs(errno));
        }
        return this;
    }

    private IOException failure(int errno) {
        long index = (bad.get(JAVA_LONG, 0) - chain.address()) / VerbsDescriptor.SEND_WR_BYTES;
        String what = "ibv_post_send(request " + index + " of " + requests.length + ", qp_num=" + qp.number() + ")";
        String why = errno == Errno.ENOMEM ? "ENOMEM (the send queue is full)" : Errno.describe(errno);
        return new IOException(what + " failed: " + why);
    }

    @Override
    public SendWRMod getWrMod(int index) {
        return requests[index];
    }

    @Override
    public boolean isValid() {
        return valid && qp.isOpen();
    }

    @Override
    public SVCPostSend free() {
        valid = false;
        return this;
    }
}
