package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvQPCap;
import com.ibm.disni.verbs.IbvQPInitAttr;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct ibv_qp_init_attr} from DiSNI's attributes, and back what was granted (ibv_create_qp(3)). */
final class QpAttributes {
    private static final Struct ATTR = VerbsDescriptor.QP_INIT_ATTR;
    private static final long QP_CONTEXT = ATTR.offset("qp_context");
    private static final long SEND_CQ = ATTR.offset("send_cq");
    private static final long RECV_CQ = ATTR.offset("recv_cq");
    private static final long MAX_SEND_WR = ATTR.offset("cap.max_send_wr");
    private static final long MAX_RECV_WR = ATTR.offset("cap.max_recv_wr");
    private static final long MAX_SEND_SGE = ATTR.offset("cap.max_send_sge");
    private static final long MAX_RECV_SGE = ATTR.offset("cap.max_recv_sge");
    private static final long MAX_INLINE_DATA = ATTR.offset("cap.max_inline_data");
    private static final long QP_TYPE = ATTR.offset("qp_type");
    private static final long SQ_SIG_ALL = ATTR.offset("sq_sig_all");

    private QpAttributes() {}

    /** The inline size asked for is cut to what the device has, so that {@code Integer.MAX_VALUE} asks for the most. */
    static MemorySegment encode(IbvQPInitAttr attributes, ForeignContext context, Arena arena) throws IOException {
        IbvQPCap cap = attributes.cap();
        MemorySegment struct = arena.allocate(ATTR.layout());
        struct.set(JAVA_LONG, QP_CONTEXT, attributes.getQp_context());
        struct.set(JAVA_LONG, SEND_CQ, handle(attributes.getSend_cq()));
        struct.set(JAVA_LONG, RECV_CQ, handle(attributes.getRecv_cq()));
        struct.set(JAVA_INT, MAX_SEND_WR, cap.getMax_send_wr());
        struct.set(JAVA_INT, MAX_RECV_WR, cap.getMax_recv_wr());
        struct.set(JAVA_INT, MAX_SEND_SGE, cap.getMax_send_sge());
        struct.set(JAVA_INT, MAX_RECV_SGE, cap.getMax_recv_sge());
        struct.set(JAVA_INT, MAX_INLINE_DATA, inline(cap.getMax_inline_data(), context));
        struct.set(JAVA_INT, QP_TYPE, attributes.getQp_type());
        struct.set(JAVA_INT, SQ_SIG_ALL, attributes.getSq_sig_all());
        return struct;
    }

    private static int inline(int wanted, ForeignContext context) {
        return wanted == 0 ? 0 : Math.min(wanted, context.maxInlineData());
    }

    private static long handle(IbvCQ cq) throws IOException {
        if (cq instanceof ForeignCq foreign) {
            return foreign.handle();
        }
        throw new IOException("rdma_create_qp: no completion queue of this device: " + cq);
    }

    static void setInline(MemorySegment struct, int bytes) {
        struct.set(JAVA_INT, MAX_INLINE_DATA, bytes);
    }

    static void granted(MemorySegment struct, IbvQPInitAttr attributes) {
        IbvQPCap cap = attributes.cap();
        cap.setMax_send_wr(struct.get(JAVA_INT, MAX_SEND_WR));
        cap.setMax_recv_wr(struct.get(JAVA_INT, MAX_RECV_WR));
        cap.setMax_send_sge(struct.get(JAVA_INT, MAX_SEND_SGE));
        cap.setMax_recv_sge(struct.get(JAVA_INT, MAX_RECV_SGE));
        cap.setMax_inline_data(struct.get(JAVA_INT, MAX_INLINE_DATA));
    }

    static String describe(IbvQPInitAttr attributes) {
        IbvQPCap cap = attributes.cap();
        return "max_send_wr=" + cap.getMax_send_wr() + ", max_recv_wr=" + cap.getMax_recv_wr() + ", max_send_sge="
                + cap.getMax_send_sge() + ", max_recv_sge=" + cap.getMax_recv_sge() + ", max_inline_data="
                + cap.getMax_inline_data();
    }
}
