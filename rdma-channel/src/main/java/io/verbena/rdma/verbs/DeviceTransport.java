package io.verbena.rdma.verbs;

/** What carries a device's messages (ibv_query_device(3): transport_type, and the link layer). */
public enum DeviceTransport {
    /** The embedded shared-memory device. */
    SOFT,
    /** RDMA over converged Ethernet. */
    ROCE,
    /** InfiniBand. */
    INFINIBAND,
    /** RDMA over TCP: no WRITE WITH IMM, the connecting side sends first. */
    IWARP
}
