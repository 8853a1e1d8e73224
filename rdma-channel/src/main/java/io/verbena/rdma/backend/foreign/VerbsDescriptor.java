package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.MemoryLayout.paddingLayout;
import static java.lang.foreign.MemoryLayout.sequenceLayout;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;

/**
 * The structs of {@code infiniband/verbs.h} on 64-bit Linux, as far as they are used. Pointers are longs.
 *
 * <pre>
 * ibv_send_wr    0       8      16        24      28     32         36   40          48    72    80      128
 *               +-------+------+---------+-------+------+----------+----+-----------+-----+-----+-------+
 *               | wr_id | next | sg_list |num_sge|opcode|send_flags|imm |remote_addr|rkey | xrc |bind_mw|
 *               +-------+------+---------+-------+------+----------+----+-----------+-----+-----+-------+
 * ibv_recv_wr    wr_id 0, next 8, sg_list 16, num_sge 24; 32 bytes
 * ibv_sge        addr 0, length 8, lkey 12; 16 bytes
 * ibv_wc         wr_id 0, status 8, opcode 12, vendor_err 16, byte_len 20, imm_data 24, qp_num 28, ...; 48 bytes
 * </pre>
 */
final class VerbsDescriptor {
    /** Immediate data are in network byte order in C; here an int means the same on both sides. */
    static final ValueLayout.OfInt BE32 = JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    static final Struct SGE = Struct.whole("ibv_sge", u64("addr"), u32("length"), u32("lkey"));

    static final Struct SEND_WR = Struct.whole(
            "ibv_send_wr",
            u64("wr_id"),
            u64("next"),
            u64("sg_list"),
            u32("num_sge"),
            u32("opcode"),
            u32("send_flags"),
            BE32.withName("imm_data"),
            u64("wr.rdma.remote_addr"),
            u32("wr.rdma.rkey"),
            paddingLayout(20),
            u32("qp_type.xrc.remote_srqn"),
            paddingLayout(4),
            u64("bind_mw.mw"),
            paddingLayout(40));

    static final Struct RECV_WR =
            Struct.whole("ibv_recv_wr", u64("wr_id"), u64("next"), u64("sg_list"), u32("num_sge"), paddingLayout(4));

    static final Struct WC = Struct.whole(
            "ibv_wc",
            u64("wr_id"),
            u32("status"),
            u32("opcode"),
            u32("vendor_err"),
            u32("byte_len"),
            BE32.withName("imm_data"),
            u32("qp_num"),
            u32("src_qp"),
            u32("wc_flags"),
            JAVA_SHORT.withName("pkey_index"),
            JAVA_SHORT.withName("slid"),
            u8("sl"),
            u8("dlid_path_bits"),
            paddingLayout(2));

    static final Struct CONTEXT = Struct.prefix(
            "ibv_context",
            u64("device"),
            paddingLayout(88),
            u64("ops.poll_cq"),
            u64("ops.req_notify_cq"),
            paddingLayout(96),
            u64("ops.post_send"),
            u64("ops.post_recv"),
            paddingLayout(40),
            u32("cmd_fd"),
            u32("async_fd"),
            u32("num_comp_vectors"),
            paddingLayout(4));

    static final Struct DEVICE = Struct.prefix(
            "ibv_device",
            paddingLayout(16),
            u32("node_type"),
            u32("transport_type"),
            sequenceLayout(64, JAVA_BYTE).withName("name"));

    static final Struct DEVICE_ATTR = Struct.whole(
            "ibv_device_attr",
            sequenceLayout(64, JAVA_BYTE).withName("fw_ver"),
            u64("node_guid"),
            u64("sys_image_guid"),
            u64("max_mr_size"),
            u64("page_size_cap"),
            u32("vendor_id"),
            u32("vendor_part_id"),
            u32("hw_ver"),
            u32("max_qp"),
            u32("max_qp_wr"),
            u32("device_cap_flags"),
            u32("max_sge"),
            u32("max_sge_rd"),
            u32("max_cq"),
            u32("max_cqe"),
            u32("max_mr"),
            u32("max_pd"),
            paddingLayout(76),
            u32("max_srq_sge"),
            JAVA_SHORT.withName("max_pkeys"),
            u8("local_ca_ack_delay"),
            u8("phys_port_cnt"),
            paddingLayout(4));

    static final Struct PORT_ATTR = Struct.whole(
            "ibv_port_attr", u32("state"), paddingLayout(42), u8("link_layer"), u8("flags"), paddingLayout(4));

    static final Struct PD = Struct.prefix("ibv_pd", u64("context"), u32("handle"), paddingLayout(4));

    static final Struct MR = Struct.prefix(
            "ibv_mr",
            u64("context"),
            u64("pd"),
            u64("addr"),
            u64("length"),
            u32("handle"),
            u32("lkey"),
            u32("rkey"),
            paddingLayout(4));

    static final Struct COMP_CHANNEL = Struct.prefix("ibv_comp_channel", u64("context"), u32("fd"), u32("refcnt"));

    static final Struct CQ =
            Struct.prefix("ibv_cq", u64("context"), u64("channel"), u64("cq_context"), u32("handle"), u32("cqe"));

    static final Struct QP = Struct.prefix("ibv_qp", u64("context"), paddingLayout(40), u32("handle"), u32("qp_num"));

    static final Struct QP_INIT_ATTR = Struct.whole(
            "ibv_qp_init_attr",
            u64("qp_context"),
            u64("send_cq"),
            u64("recv_cq"),
            u64("srq"),
            u32("cap.max_send_wr"),
            u32("cap.max_recv_wr"),
            u32("cap.max_send_sge"),
            u32("cap.max_recv_sge"),
            u32("cap.max_inline_data"),
            u32("qp_type"),
            u32("sq_sig_all"),
            paddingLayout(4));

    static final Struct ASYNC_EVENT =
            Struct.whole("ibv_async_event", u64("element.qp"), u32("event_type"), paddingLayout(4));

    static final List<Struct> ALL = List.of(
            SGE,
            SEND_WR,
            RECV_WR,
            WC,
            CONTEXT,
            DEVICE,
            DEVICE_ATTR,
            PORT_ATTR,
            PD,
            MR,
            COMP_CHANNEL,
            CQ,
            QP,
            QP_INIT_ATTR,
            ASYNC_EVENT);

    static final long SGE_BYTES = SGE.bytes();
    static final long SGE_ADDR = SGE.offset("addr");
    static final long SGE_LENGTH = SGE.offset("length");
    static final long SGE_LKEY = SGE.offset("lkey");

    static final long SEND_WR_BYTES = SEND_WR.bytes();
    static final long SEND_WR_ID = SEND_WR.offset("wr_id");
    static final long SEND_NEXT = SEND_WR.offset("next");
    static final long SEND_SG_LIST = SEND_WR.offset("sg_list");
    static final long SEND_NUM_SGE = SEND_WR.offset("num_sge");
    static final long SEND_OPCODE = SEND_WR.offset("opcode");
    static final long SEND_FLAGS = SEND_WR.offset("send_flags");
    static final long SEND_IMM_DATA = SEND_WR.offset("imm_data");
    static final long SEND_REMOTE_ADDR = SEND_WR.offset("wr.rdma.remote_addr");
    static final long SEND_RKEY = SEND_WR.offset("wr.rdma.rkey");

    static final long RECV_WR_BYTES = RECV_WR.bytes();
    static final long RECV_WR_ID = RECV_WR.offset("wr_id");
    static final long RECV_NEXT = RECV_WR.offset("next");
    static final long RECV_SG_LIST = RECV_WR.offset("sg_list");
    static final long RECV_NUM_SGE = RECV_WR.offset("num_sge");

    static final long WC_BYTES = WC.bytes();
    static final long WC_WR_ID = WC.offset("wr_id");
    static final long WC_STATUS = WC.offset("status");
    static final long WC_OPCODE = WC.offset("opcode");
    static final long WC_VENDOR_ERR = WC.offset("vendor_err");
    static final long WC_BYTE_LEN = WC.offset("byte_len");
    static final long WC_IMM_DATA = WC.offset("imm_data");
    static final long WC_QP_NUM = WC.offset("qp_num");
    static final long WC_SRC_QP = WC.offset("src_qp");
    static final long WC_FLAGS = WC.offset("wc_flags");

    private VerbsDescriptor() {}

    static MemoryLayout u64(String name) {
        return JAVA_LONG.withName(name);
    }

    static MemoryLayout u32(String name) {
        return JAVA_INT.withName(name);
    }

    static MemoryLayout u8(String name) {
        return JAVA_BYTE.withName(name);
    }
}
