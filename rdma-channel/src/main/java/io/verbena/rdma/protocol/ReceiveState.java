package io.verbena.rdma.protocol;

/**
 * What this side knows about its peer's stream (PROTOCOL.md, section 6).
 *
 * <pre>
 * server                   client
 *   |                        |
 *   v                        v
 * HELLO_AWAITED --HELLO--> OPEN ---------FIN---------> FIN_SEEN
 *   |                      | | |                        |   |
 *   |                      | | +--FIN+CLOSE--+   FIN+CLOSE  |
 *   |                      | |               v          |   |
 *   |                      | |             CLOSED &lt;-----+   |
 *   |                      | |               |              |
 *   |                      | +--CLEAN_END--+ | RESET, END,  | RESET, END,
 *   |                      |               | | CLEAN_END    | CLEAN_END
 *   | END, CLEAN_END       |               v v              |
 *   v                      |              ENDED &lt;-----------+
 * RESET &lt;---RESET, END-----+
 *
 * VIOLATION leads from every state but ENDED and RESET to RESET.
 * </pre>
 *
 * <p>ENDED and RESET are final: no message is taken any more.
 */
public enum ReceiveState {
    /** The server has not yet had HELLO; the connection is not to be shown to accept. */
    HELLO_AWAITED,
    /** Data may arrive. */
    OPEN,
    /** FIN came: all data is here, and the peer still reads. */
    FIN_SEEN,
    /** FIN with CLOSE came: all data is here, and the peer reads no more. */
    CLOSED,
    /** The transport ended after an orderly end of the peer's stream: all data is here, nobody reads. */
    ENDED,
    /** The connection was reset: what arrived before may be read. */
    RESET;

    /** What moves the state. */
    enum Event {
        HELLO,
        FIN,
        FIN_CLOSE,
        RESET,
        /** The transport ended, and what is missing is unknown. */
        END,
        /** The transport ended, and everything that the peer wrote is here. */
        CLEAN_END,
        VIOLATION
    }

    /** Whether everything that the peer wrote has arrived. */
    boolean complete() {
        return this == FIN_SEEN || this == CLOSED || this == ENDED;
    }

    /** Whether no message is taken any more. */
    boolean terminal() {
        return this == ENDED || this == RESET;
    }

    ReceiveState after(Event event) {
        ReceiveState next = switch (event) {
            case HELLO -> this == HELLO_AWAITED ? OPEN : null;
            case FIN -> this == OPEN ? FIN_SEEN : null;
            case FIN_CLOSE -> this == OPEN || this == FIN_SEEN ? CLOSED : null;
            case RESET, END -> terminal() ? null : complete() ? ENDED : RESET;
            case CLEAN_END -> terminal() ? null : this == HELLO_AWAITED ? RESET : ENDED;
            case VIOLATION -> terminal() ? null : RESET;
        };
        if (next == null) {
            throw new IllegalStateException("receive state " + this + " does not allow " + event);
        }
        return next;
    }
}
