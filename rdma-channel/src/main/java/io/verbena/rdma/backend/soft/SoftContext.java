package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaCmId;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceTransport;
import io.verbena.rdma.verbs.RegisteredMemory;
import java.io.IOException;

/** The one soft device of this process. Holds nothing open. Thread-safe. */
final class SoftContext extends IbvContext implements Device {
    static final int MAX_QP_WR = BlockDescriptor.MAX_RING_ENTRIES;
    static final int MAX_SGE = 32;
    private static final int MAX_CQE = 1 << 22;

    SoftContext() throws IOException {
        super(-1, 1);
        isOpen = true;
    }

    @Override
    public DeviceTransport transport() {
        return DeviceTransport.SOFT;
    }

    @Override
    public int maxQpWr() {
        return MAX_QP_WR;
    }

    @Override
    public int maxCqe() {
        return MAX_CQE;
    }

    @Override
    public int maxInlineData() {
        return Integer.MAX_VALUE;
    }

    @Override
    public boolean hasWriteWithImm() {
        return true;
    }

    @Override
    public IbvCompChannel createCompChannel(RdmaCmId id) throws IOException {
        return new ConnectionCompChannel(((SoftCmId) id).connection(), this);
    }

    @Override
    public RegisteredMemory allocate(RdmaCmId id, IbvPd pd, int bytes, int access) throws IOException {
        return SoftMemory.allocate(((SoftCmId) id).connection(), (SoftPd) pd, bytes, access);
    }

    @Override
    public IbvPd allocPd() throws IOException {
        return new SoftPd(this);
    }

    @Override
    public IbvCompChannel createCompChannel() throws IOException {
        return SharedCompChannel.create(this);
    }

    @Override
    public IbvCQ createCQ(IbvCompChannel channel, int cqe, int vector) throws IOException {
        if (cqe < 1 || cqe > MAX_CQE) {
            throw new IOException("create_cq failed: EINVAL (cqe=" + cqe + ", the soft device has " + MAX_CQE + ")");
        }
        return new SoftCq(this, (SoftCompChannel) channel, cqe);
    }

    @Override
    public int queryOdpSupport() {
        return 0;
    }
}
