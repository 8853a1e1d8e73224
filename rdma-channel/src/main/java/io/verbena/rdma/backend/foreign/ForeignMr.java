package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.SVCDeregMr;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** A memory region (ibv_reg_mr(3)). Thread-safe but for deregistering, which may be done again. */
final class ForeignMr extends IbvMr {
    private static final Struct MR = VerbsDescriptor.MR;

    private final long mr;

    ForeignMr(long mr, ForeignContext context, int access) throws IOException {
        this(mr, MR.at(mr), context, access);
    }

    private ForeignMr(long mr, MemorySegment struct, ForeignContext context, int access) throws IOException {
        super(
                context,
                Struct.pointer(struct, MR.offset("addr")),
                Math.toIntExact(Struct.pointer(struct, MR.offset("length"))),
                access,
                struct.get(JAVA_INT, MR.offset("lkey")),
                struct.get(JAVA_INT, MR.offset("rkey")),
                struct.get(JAVA_INT, MR.offset("handle")));
        this.mr = mr;
    }

    synchronized void deregister() throws IOException {
        if (isOpen) {
            isOpen = false;
            Downcalls.check(VerbsCalls.deregMr(mr), "ibv_dereg_mr", getLength() + " bytes");
        }
    }

    @Override
    public SVCDeregMr deregMr() {
        return new Dereg(this);
    }

    /** On-demand paging is not used. */
    @Override
    public int expPrefetchMr(long address, int length) {
        return -1;
    }

    private static final class Dereg extends SVCDeregMr {
        private final ForeignMr mr;

        Dereg(ForeignMr mr) {
            this.mr = mr;
        }

        @Override
        public SVCDeregMr execute() throws IOException {
            mr.deregister();
            return this;
        }

        @Override
        public boolean isValid() {
            return mr.isOpen();
        }

        @Override
        public SVCDeregMr free() {
            return this;
        }
    }
}
