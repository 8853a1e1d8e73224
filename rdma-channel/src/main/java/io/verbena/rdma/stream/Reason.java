package io.verbena.rdma.stream;

/** Why a connection got the transport that it has; counted per reason. */
public enum Reason {
    /** The stream device carries it. */
    SOFT,
    /** {@code io.verbena.mode=tcp}. */
    MODE_TCP,
    /** The destination is not an address of this host. */
    NOT_LOCAL,
    /** Nobody listens on the address, or the listener is not a Verbena program. */
    NO_LISTENER,
    /** The one who answers is not the owner of the port. */
    IMPOSTOR,
    /** The device could not be opened, or a limit was reached. */
    NO_RESOURCES,
    /** The peer refused: its backlog is full. */
    BACKLOG_FULL,
    /** The peer speaks no version that we do. */
    VERSION,
    /** The peer refused for another reason, or answered nonsense. */
    REJECTED,
    /** The peer did not answer in time. */
    TIMEOUT,
    /** The peer went away in the middle of the handshake. */
    PEER_DIED,
    /** The program closed or cancelled. */
    CANCELLED
}
