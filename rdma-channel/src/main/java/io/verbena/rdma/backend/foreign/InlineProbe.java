package io.verbena.rdma.backend.foreign;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Finds out how many bytes a device can inline: no query tells, only making a queue pair does. The queue pair is never
 * connected.
 */
final class InlineProbe {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.backend.foreign");

    /** More would make every send queue entry large; an inlined message should be small. */
    private static final int[] SIZES = {256, 192, 128, 96, 64, 32, 16};

    private InlineProbe() {}

    /** The greatest size that the device grants, 0 if none or if even the probe fails. */
    static int run(ForeignContext context) {
        try {
            var pd = (ForeignPd) context.allocPd();
            try {
                return tryWith(context, pd);
            } finally {
                int unused = pd.deallocPd();
            }
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "can't find out the inline size of " + context + ", taking 0", e);
            return 0;
        }
    }

    private static int tryWith(ForeignContext context, ForeignPd pd) throws IOException {
        var cq = ForeignCq.create(context, null, 1, 0);
        try {
            for (int bytes : SIZES) {
                if (granted(context, pd, cq, bytes)) {
                    return bytes;
                }
            }
            return 0;
        } finally {
            int unused = cq.destroyCQ();
        }
    }

    private static boolean granted(ForeignContext context, ForeignPd pd, ForeignCq cq, int bytes) throws IOException {
        var attributes = new IbvQPInitAttr();
        attributes.setQp_type(IbvQP.IBV_QPT_RC);
        attributes.setSend_cq(cq);
        attributes.setRecv_cq(cq);
        attributes.cap().setMax_send_wr(1);
        attributes.cap().setMax_recv_wr(1);
        attributes.cap().setMax_send_sge(1);
        attributes.cap().setMax_recv_sge(1);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = QpAttributes.encode(attributes, context, arena);
            QpAttributes.setInline(attr, bytes);
            long qp = VerbsCalls.createQp(pd.handle(), attr);
            if (qp < 0) {
                return false;
            }
            Downcalls.check(VerbsCalls.destroyQp(qp), "ibv_destroy_qp", context);
            QpAttributes.granted(attr, attributes);
            return attributes.cap().getMax_inline_data() >= bytes;
        }
    }
}
