package io.verbena.rdma.protocol;

/** What may happen next on one side of a simulated connection. */
enum SimStep {
    /** The device carries the oldest posted request to the peer. */
    DELIVER,
    /** The device learns that the oldest carried request arrived. */
    ACK,
    /** Some thread reaps receive completions. */
    REAP_RECEIVES,
    /** Some thread reaps a send completion. */
    REAP_SENDS,
    /** The control thread reports the end of the transport. */
    TRANSPORT_END,
    /** The client sends HELLO. */
    HELLO,
    /** The program writes. */
    WRITE,
    /** The program reads. */
    READ,
    /** A call that took a reply posts it. */
    POST_REPLY,
    /** The program has written everything and does what it planned to do then. */
    FINISH,
    /** The program closes. */
    CLOSE,
    /** The control thread disconnects a closed connection. */
    DISCONNECT,
    /** Some thread sends a keepalive. */
    KEEPALIVE
}
