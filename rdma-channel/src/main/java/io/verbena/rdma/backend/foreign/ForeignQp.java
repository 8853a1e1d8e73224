package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** A queue pair that an id made (rdma_create_qp(3)) and destroys. Prepared calls have one user at a time. */
final class ForeignQp extends IbvQP {
    private static final Struct QP = VerbsDescriptor.QP;

    private final long qp;
    private final ForeignContext device;
    private final int inlineBytes;

    /** The attributes hold what was granted. */
    ForeignQp(long qp, ForeignContext device, IbvPd pd, IbvQPInitAttr attributes) throws IOException {
        this(qp, QP.at(qp), device, pd, attributes);
    }

    private ForeignQp(long qp, MemorySegment struct, ForeignContext device, IbvPd pd, IbvQPInitAttr attributes)
            throws IOException {
        super(struct.get(JAVA_INT, QP.offset("handle")));
        this.qp = qp;
        this.device = device;
        this.inlineBytes = attributes.cap().getMax_inline_data();
        this.qp_num = struct.get(JAVA_INT, QP.offset("qp_num"));
        this.context = device;
        this.pd = pd;
        this.send_cq = attributes.getSend_cq();
        this.recv_cq = attributes.getRecv_cq();
        this.qp_type = attributes.getQp_type();
    }

    long handle() {
        return qp;
    }

    ForeignContext device() {
        return device;
    }

    /** The most bytes that IBV_SEND_INLINE takes. */
    int inlineBytes() {
        return inlineBytes;
    }

    int number() {
        return qp_num;
    }

    @Override
    public int getQp_num() {
        return qp_num;
    }

    @Override
    public SVCPostSend postSend(List<IbvSendWR> requests, List<IbvSendWR> bad) {
        return new ForeignPostSend(this, requests);
    }

    @Override
    public SVCPostRecv postRecv(List<IbvRecvWR> requests, List<IbvRecvWR> bad) {
        return new ForeignPostRecv(this, requests);
    }
}
