package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.SVCRegMr;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** A protection domain (ibv_alloc_pd(3)). Thread-safe but for {@link #deallocPd}, which may be called again. */
final class ForeignPd extends IbvPd {
    private static final long HANDLE = VerbsDescriptor.PD.offset("handle");

    private final long pd;
    private final ForeignContext device;

    ForeignPd(long pd, ForeignContext context) throws IOException {
        super(context);
        this.pd = pd;
        this.device = context;
        this.handle = VerbsDescriptor.PD.at(pd).get(JAVA_INT, HANDLE);
    }

    long handle() throws IOException {
        if (!isOpen) {
            throw new IOException("the protection domain is deallocated");
        }
        return pd;
    }

    ForeignContext device() {
        return device;
    }

    ForeignMr register(long address, int length, int access) throws IOException {
        long mr = VerbsCalls.regMr(handle(), address, length, access);
        if (mr < 0) {
            throw RegistrationError.of((int) -mr, length, access, device.limits());
        }
        return new ForeignMr(mr, device, access);
    }

    @Override
    public SVCRegMr regMr(ByteBuffer buffer, int access) {
        MemorySegment memory = MemorySegment.ofBuffer(buffer);
        if (!memory.isNative()) {
            throw new IllegalArgumentException("only a direct buffer can be registered");
        }
        return new ForeignRegMr(this, memory, memory.address(), (int) memory.byteSize(), access);
    }

    @Override
    public SVCRegMr regMr(long address, int length, int access) {
        return new ForeignRegMr(this, null, address, length, access);
    }

    @Override
    public synchronized int deallocPd() throws IOException {
        if (isOpen) {
            isOpen = false;
            Downcalls.check(VerbsCalls.deallocPd(pd), "ibv_dealloc_pd", device);
        }
        return 0;
    }
}
