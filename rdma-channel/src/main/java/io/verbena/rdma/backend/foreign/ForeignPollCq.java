package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A prepared ibv_poll_cq(3): native completions, copied to Java objects. Not thread-safe; allocates nothing. */
final class ForeignPollCq extends SVCPollCq {
    private static final int WITH_IMM = 1 << 1;

    private final ForeignCq cq;
    private final long handle;
    private final MemorySegment function;
    private final IbvWC[] completions;
    private final int count;
    private final MemorySegment natives;
    private int polled;

    ForeignPollCq(ForeignCq cq, IbvWC[] completions, int count) throws IOException {
        if (count < 1 || count > completions.length) {
            throw new IllegalArgumentException("count=" + count + ", completions=" + completions.length);
        }
        this.cq = cq;
        this.handle = cq.handle();
        this.function = cq.device().pollCq();
        this.completions = completions;
        this.count = count;
        this.natives = Arena.ofAuto().allocate(VerbsDescriptor.WC_BYTES * count, Long.BYTES);
    }

    @Override
    public SVCPollCq execute() throws IOException {
        polled = 0;
        if (!cq.isOpen()) {
            throw new IOException("ibv_poll_cq: the completion queue is destroyed");
        }
        int n = FastPath.pollCq(function, handle, count, natives);
        if (n < 0) {
            throw new IOException("ibv_poll_cq failed: " + n + " on " + cq.device());
        }
        for (int i = 0; i < n; i++) {
            copy(i * VerbsDescriptor.WC_BYTES, completions[i]);
        }
        polled = n;
        return this;
    }

    private void copy(long at, IbvWC to) {
        int status = natives.get(JAVA_INT, at + VerbsDescriptor.WC_STATUS);
        int flags = natives.get(JAVA_INT, at + VerbsDescriptor.WC_FLAGS);
        to.setWr_id(natives.get(JAVA_LONG, at + VerbsDescriptor.WC_WR_ID));
        to.setStatus(status);
        to.setOpcode(natives.get(JAVA_INT, at + VerbsDescriptor.WC_OPCODE));
        to.setVendor_err(natives.get(JAVA_INT, at + VerbsDescriptor.WC_VENDOR_ERR));
        to.setByte_len(natives.get(JAVA_INT, at + VerbsDescriptor.WC_BYTE_LEN));
        boolean hasImm = status == 0 && (flags & WITH_IMM) != 0;
        to.setImm_data(hasImm ? natives.get(VerbsDescriptor.BE32, at + VerbsDescriptor.WC_IMM_DATA) : 0);
        to.setQp_num(natives.get(JAVA_INT, at + VerbsDescriptor.WC_QP_NUM));
        to.setSrc_qp(natives.get(JAVA_INT, at + VerbsDescriptor.WC_SRC_QP));
        to.setWc_flags(flags);
        to.setErr(status);
    }

    @Override
    public int getPolls() {
        return polled;
    }

    @Override
    public boolean isValid() {
        return cq.isOpen();
    }

    @Override
    public SVCPollCq free() {
        return this;
    }
}
