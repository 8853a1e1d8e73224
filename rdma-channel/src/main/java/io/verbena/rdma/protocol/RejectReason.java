package io.verbena.rdma.protocol;

/** Why a connection was rejected (PROTOCOL.md, section 2.3). Codes are on the wire: never renumber. */
public enum RejectReason {
    /** No version in common; the reject carries the supported range, and the client may retry within it. */
    VERSION(1),
    /** The connect's private data was not understood. */
    MALFORMED(2),
    /** The listener's backlog is full: try again later, the peer does speak RDMA. */
    BACKLOG_FULL(3),
    /** A rule of the listener forbids this peer. */
    FORBIDDEN(4),
    /** The listener is about to close. */
    CLOSING(5),
    /** Memory, descriptors or queue pairs ran out. */
    NO_RESOURCES(6),
    /** A code that this version does not know. */
    OTHER(0xffff);

    private static final RejectReason[] VALUES = values();

    private final int code;

    RejectReason(int code) {
        this.code = code;
    }

    /**
     * The code on the wire.
     *
     * @return 16 bits
     */
    public int code() {
        return code;
    }

    /**
     * The reason of a code.
     *
     * @param code 16 bits
     * @return the reason; {@link #OTHER} if the code is unknown
     */
    public static RejectReason of(int code) {
        for (RejectReason reason : VALUES) {
            if (reason.code == code) {
                return reason;
            }
        }
        return OTHER;
    }
}
