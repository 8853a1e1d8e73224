package io.verbena.rdma.protocol;

/** What goes wrong in a simulated connection; one per seed. */
enum SimFault {
    /** Nothing but delays. */
    NONE,
    /** One program makes a last write and never calls again; its process lives on. */
    PROGRAM_STOPS,
    /** One process dies on a soft device: what it posted is in its peer's ring. */
    LOST_PEER_SOFT,
    /** One process dies on an RDMA device: what is under way is lost from some point on. */
    LOST_PEER_RDMA,
    /** The link fails: both sides lose what is under way. */
    LOST_LINK,
    /** One program closes with linger 0. */
    LINGER_ZERO,
    /** One program closes in the middle of everything, whatever is unread. */
    EARLY_CLOSE
}
