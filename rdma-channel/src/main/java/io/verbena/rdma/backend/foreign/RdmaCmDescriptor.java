package io.verbena.rdma.backend.foreign;

import static io.verbena.rdma.backend.foreign.VerbsDescriptor.u32;
import static io.verbena.rdma.backend.foreign.VerbsDescriptor.u64;
import static io.verbena.rdma.backend.foreign.VerbsDescriptor.u8;
import static java.lang.foreign.MemoryLayout.paddingLayout;

import java.util.List;

/**
 * The structs of {@code rdma/rdma_cma.h} on 64-bit Linux, as far as they are used. Pointers are longs.
 *
 * <pre>
 * rdma_conn_param  private_data 0, private_data_len 8, responder_resources 9, initiator_depth 10, flow_control 11,
 *                  retry_count 12, rnr_retry_count 13, srq 14, qp_num 16; 24 bytes
 * rdma_cm_event    id 0, listen_id 8, event 16, status 20, param.conn 24; 80 bytes
 * rdma_cm_id       verbs 0, channel 8, context 16, qp 24, source address 32, destination address 160, ...
 * </pre>
 */
final class RdmaCmDescriptor {
    static final Struct CONN_PARAM = Struct.whole(
            "rdma_conn_param",
            u64("private_data"),
            u8("private_data_len"),
            u8("responder_resources"),
            u8("initiator_depth"),
            u8("flow_control"),
            u8("retry_count"),
            u8("rnr_retry_count"),
            u8("srq"),
            paddingLayout(1),
            u32("qp_num"),
            paddingLayout(4));

    static final Struct CM_EVENT = Struct.whole(
            "rdma_cm_event",
            u64("id"),
            u64("listen_id"),
            u32("event"),
            u32("status"),
            u64("param.conn.private_data"),
            u8("param.conn.private_data_len"),
            u8("param.conn.responder_resources"),
            u8("param.conn.initiator_depth"),
            u8("param.conn.flow_control"),
            u8("param.conn.retry_count"),
            u8("param.conn.rnr_retry_count"),
            u8("param.conn.srq"),
            paddingLayout(1),
            u32("param.conn.qp_num"),
            paddingLayout(36));

    static final Struct CM_ID = Struct.prefix(
            "rdma_cm_id",
            u64("verbs"),
            u64("channel"),
            u64("context"),
            u64("qp"),
            paddingLayout(SocketAddressDescriptor.STORAGE_BYTES).withName("route.addr.src_storage"),
            paddingLayout(SocketAddressDescriptor.STORAGE_BYTES).withName("route.addr.dst_storage"),
            paddingLayout(56),
            u32("ps"),
            u8("port_num"),
            paddingLayout(3));

    static final Struct EVENT_CHANNEL = Struct.prefix("rdma_event_channel", u32("fd"));

    static final List<Struct> ALL = List.of(CONN_PARAM, CM_EVENT, CM_ID, EVENT_CHANNEL);

    private RdmaCmDescriptor() {}
}
