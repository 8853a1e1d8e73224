package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.SVCRegMr;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;

/** A protection domain: the local keys. Thread-safe; a lookup takes no lock. */
final class SoftPd extends IbvPd {
    private static final int MAX_REGIONS = 1 << 16;
    private static final int INDEX_MASK = MAX_REGIONS - 1;

    /** Copied when it grows; elements are written under this object's lock and read by {@link #find} at any time. */
    private volatile SoftMr[] regions = new SoftMr[8];

    SoftPd(SoftContext context) throws IOException {
        super(context);
        this.context = context;
        this.isOpen = true;
    }

    /** The region with a local key, or null. */
    SoftMr find(int lkey) {
        SoftMr[] all = regions;
        int index = lkey & INDEX_MASK;
        SoftMr mr = index < all.length ? all[index] : null;
        return mr != null && mr.getLkey() == lkey ? mr : null;
    }

    /** Registers memory for local access. */
    synchronized SoftMr register(MemorySegment memory, int access, int rkey, Runnable onDeregister) throws IOException {
        SoftMr[] all = regions;
        int index = 0;
        while (index < all.length && all[index] != null) {
            index++;
        }
        if (index == MAX_REGIONS) {
            throw new IOException("reg_mr failed: ENOMEM (" + MAX_REGIONS
                    + " regions are registered in the protection domain; deregister some)");
        }
        if (index == all.length) {
            all = java.util.Arrays.copyOf(all, index * 2);
        }
        int lkey = ThreadLocalRandom.current().nextInt() & ~INDEX_MASK | index;
        SoftMr mr = new SoftMr(this, memory, access, lkey, rkey, onDeregister);
        all[index] = mr;
        regions = all;
        return mr;
    }

    synchronized void deregister(SoftMr mr) {
        SoftMr[] all = regions;
        int index = mr.getLkey() & INDEX_MASK;
        if (all[index] == mr) {
            all[index] = null;
            regions = all;
        }
    }

    @Override
    public SVCRegMr regMr(ByteBuffer buffer, int access) throws IOException {
        if (!buffer.isDirect()) {
            throw new IOException("reg_mr failed: EINVAL (a heap buffer can't be registered; use a direct one)");
        }
        return new SoftRegMr(this, MemorySegment.ofBuffer(buffer.duplicate().clear()), checked(access));
    }

    @Override
    public SVCRegMr regMr(long address, int length, int access) throws IOException {
        return new SoftRegMr(this, MemorySegment.ofAddress(address).reinterpret(length), checked(access));
    }

    private static int checked(int access) throws IOException {
        int remote = IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ | IbvMr.IBV_ACCESS_REMOTE_ATOMIC;
        if ((access & remote) != 0) {
            throw new IOException("reg_mr failed: EOPNOTSUPP (the soft device gives peers access to its own memory"
                    + " only; allocate it with Device.allocate)");
        }
        return access;
    }

    @Override
    public int deallocPd() {
        isOpen = false;
        return 0;
    }
}
