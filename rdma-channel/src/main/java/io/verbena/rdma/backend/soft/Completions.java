package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvWC;

/** Values of {@code struct ibv_wc} (ibv_poll_cq(3)) and how one is filled in. */
final class Completions {
    static final int SUCCESS = IbvWC.IbvWcStatus.IBV_WC_SUCCESS.ordinal();
    static final int LOC_LEN_ERR = IbvWC.IbvWcStatus.IBV_WC_LOC_LEN_ERR.ordinal();
    static final int LOC_PROT_ERR = IbvWC.IbvWcStatus.IBV_WC_LOC_PROT_ERR.ordinal();
    static final int WR_FLUSH_ERR = IbvWC.IbvWcStatus.IBV_WC_WR_FLUSH_ERR.ordinal();
    static final int REM_ACCESS_ERR = IbvWC.IbvWcStatus.IBV_WC_REM_ACCESS_ERR.ordinal();
    static final int REM_OP_ERR = IbvWC.IbvWcStatus.IBV_WC_REM_OP_ERR.ordinal();
    static final int RNR_RETRY_EXC_ERR = IbvWC.IbvWcStatus.IBV_WC_RNR_RETRY_EXC_ERR.ordinal();

    static final int OP_SEND = IbvWC.IbvWcOpcode.IBV_WC_SEND.getOpcode();
    static final int OP_RDMA_WRITE = IbvWC.IbvWcOpcode.IBV_WC_RDMA_WRITE.getOpcode();
    static final int OP_RECV = IbvWC.IbvWcOpcode.IBV_WC_RECV.getOpcode();
    static final int OP_RECV_RDMA_WITH_IMM = IbvWC.IbvWcOpcode.IBV_WC_RECV_RDMA_WITH_IMM.getOpcode();

    static final int WITH_IMM = 1 << 1;

    private Completions() {}

    static void set(IbvWC wc, long wrId, int status, int opcode, int length, int immediate, int flags, int qpNum) {
        wc.setWr_id(wrId);
        wc.setStatus(status);
        wc.setOpcode(opcode);
        wc.setVendor_err(0);
        wc.setByte_len(length);
        wc.setImm_data(immediate);
        wc.setQp_num(qpNum);
        wc.setSrc_qp(0);
        wc.setWc_flags(flags);
        wc.setErr(status);
    }
}
