package io.verbena.rdma.protocol;

/**
 * What this side has told its peer about its own stream (PROTOCOL.md, section 6).
 *
 * <pre>
 * client                 server
 *   |                      |
 *   v                      v
 * HELLO_OWED --HELLO--> OPEN -------FIN-------> FIN_SENT
 *                        | |                      | |
 *                        | +--FIN+CLOSE--+  +-----+ |
 *                        |               |  |FIN+   |
 *                        |               v  vCLOSE  |
 *                        |              CLOSED      |
 *                        +--RESET--> RESET &lt;--RESET-+
 * </pre>
 *
 * <p>CLOSED and RESET are final. That the peer or the transport ended is no state of this side: see {@link WriteEnd}.
 */
public enum SendState {
    /** The client has not yet sent HELLO. */
    HELLO_OWED,
    /** Data may be sent. */
    OPEN,
    /** FIN was sent: no more data, but this side still reads. */
    FIN_SENT,
    /** FIN with CLOSE was sent: no more data, and this side reads no more; only FIN_ACK may follow. */
    CLOSED,
    /** RESET was sent: nothing follows. */
    RESET;

    /** What moves the state: the control messages that this side sends. */
    enum Event {
        HELLO,
        FIN,
        FIN_CLOSE,
        RESET
    }

    SendState after(Event event) {
        if (this == HELLO_OWED && event == Event.HELLO) {
            return OPEN;
        }
        if (this == OPEN && event == Event.FIN) {
            return FIN_SENT;
        }
        if ((this == OPEN || this == FIN_SENT) && event == Event.FIN_CLOSE) {
            return CLOSED;
        }
        if ((this == OPEN || this == FIN_SENT) && event == Event.RESET) {
            return RESET;
        }
        throw new IllegalStateException("send state " + this + " does not allow " + event);
    }
}
