package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.RdmaConnParam;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct rdma_conn_param} from DiSNI's parameters (rdma_connect(3), rdma_accept(3)). */
final class ConnParamDescriptor {
    private static final Struct PARAM = RdmaCmDescriptor.CONN_PARAM;
    private static final long PRIVATE_DATA = PARAM.offset("private_data");
    private static final long PRIVATE_DATA_LEN = PARAM.offset("private_data_len");
    private static final long RESPONDER_RESOURCES = PARAM.offset("responder_resources");
    private static final long INITIATOR_DEPTH = PARAM.offset("initiator_depth");
    private static final long FLOW_CONTROL = PARAM.offset("flow_control");
    private static final long RETRY_COUNT = PARAM.offset("retry_count");
    private static final long RNR_RETRY_COUNT = PARAM.offset("rnr_retry_count");
    private static final long SRQ = PARAM.offset("srq");
    private static final long QP_NUM = PARAM.offset("qp_num");

    private ConnParamDescriptor() {}

    /**
     * Encodes parameters, NULL for null. The private data stay where they are; the caller keeps them alive.
     */
    static MemorySegment encode(RdmaConnParam param, int qpNum, Arena arena) {
        if (param == null) {
            return MemorySegment.NULL;
        }
        MemorySegment struct = arena.allocate(PARAM.layout());
        struct.set(JAVA_LONG, PRIVATE_DATA, param.getPrivate_data());
        struct.set(JAVA_BYTE, PRIVATE_DATA_LEN, param.getPrivate_data_len());
        struct.set(JAVA_BYTE, RESPONDER_RESOURCES, param.getResponder_resources());
        struct.set(JAVA_BYTE, INITIATOR_DEPTH, param.getInitiator_depth());
        struct.set(JAVA_BYTE, FLOW_CONTROL, param.getFlow_control());
        struct.set(JAVA_BYTE, RETRY_COUNT, param.getRetry_count());
        struct.set(JAVA_BYTE, RNR_RETRY_COUNT, param.getRnr_retry_count());
        struct.set(JAVA_BYTE, SRQ, param.getSrq());
        struct.set(JAVA_INT, QP_NUM, param.getQp_num() != 0 ? param.getQp_num() : qpNum);
        return struct;
    }
}
