package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSge;
import io.verbena.rdma.verbs.RecvWr;

/** A receive work request, prepared once. Not thread-safe. */
final class SoftRecvWr implements RecvWr {
    final SoftSge[] sges;
    long wrId;
    int repeat = 1;

    SoftRecvWr(IbvRecvWR wr) {
        wrId = wr.getWr_id();
        int size = wr.getSg_list() == null ? 0 : wr.getSg_list().size();
        sges = new SoftSge[size];
        for (int i = 0; i < size; i++) {
            IbvSge sge = wr.getSg_list().get(i);
            sges[i] = new SoftSge(sge.getAddr(), sge.getLength(), sge.getLkey());
        }
    }

    @Override
    public void setWr_id(long id) {
        wrId = id;
    }

    @Override
    public long getWr_id() {
        return wrId;
    }

    @Override
    public void setRepeat(int count) {
        if (count < 1 || (count > 1 && sges.length > 0)) {
            throw new IllegalArgumentException("repeat=" + count + " with num_sge=" + sges.length);
        }
        repeat = count;
    }
}
