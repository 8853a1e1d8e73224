package io.verbena.rdma.protocol;

/** The fixed numbers of the stream protocol (PROTOCOL.md, sections 1, 3 and 5). */
public final class ProtocolLimits {
    /** Log2 of the smallest receive ring: 4 KiB. */
    public static final int MIN_RING_BYTES_LOG2 = 12;

    /** Log2 of the largest receive ring: 128 MiB. */
    public static final int MAX_RING_BYTES_LOG2 = 27;

    /**
     * Log2 of the receive ring that a side offers if nothing else was asked for: 512 KiB. It fits a processor's
     * second-level cache beside its own working set.
     */
    public static final int DEFAULT_RING_BYTES_LOG2 = 19;

    /** The least number of data receive work requests that a side may offer. */
    public static final int MIN_DATA_WRS = 1;

    /** The greatest number of data receive work requests that a side may offer: what 14 bits of a CREDIT hold. */
    public static final int MAX_DATA_WRS = (1 << 14) - 1;

    /**
     * Receive work requests that each side posts beside its data receives, for control messages, which need no credit.
     *
     * <p>Why 8 suffice (PROTOCOL.md, section 5.3, has the argument in full). What a side lends is conserved: credit at
     * the sender + data under way or unreaped + uncredited at the lender + credit in CREDITs that the sender has not
     * reaped = what was lent. So unreaped CREDITs together return at most one ring of bytes and one set of work
     * requests. Each of them returns at least half of the ring (half is a whole number of units, so rounding takes
     * nothing from it) or at least half of the work requests (rounded up, so three such halves exceed the whole): at
     * most 2 + 2 are unreaped. Everything else is sent at most once: HELLO, FIN, FIN_ACK, and one of FIN+CLOSE and
     * RESET. That makes 8.
     *
     * <p>It holds if a receive is posted again before the message that it held is handed to
     * {@link ReceiveHalf#onImmediate}: only then does "reaped" imply that the receive is back.
     */
    public static final int CONTROL_WRS = 8;

    /**
     * Send queue slots that data never takes. Each control message is signalled, so its slot comes back when the
     * device has acknowledged it, whatever the peer's program does; at most {@link #CONTROL_WRS} control messages are
     * unreaped by the peer, so more are outstanding only while an acknowledgement of a reaped one is still under way.
     */
    public static final int CONTROL_SLOTS = CONTROL_WRS;

    private ProtocolLimits() {}

    /**
     * The number of receive work requests that a side posts before it connects or accepts.
     *
     * @param dataWrs its data receives
     * @return data and control receives together
     */
    public static int receiveWrs(int dataWrs) {
        return dataWrs + CONTROL_WRS;
    }
}
