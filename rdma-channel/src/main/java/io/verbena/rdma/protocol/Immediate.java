package io.verbena.rdma.protocol;

/**
 * The 32-bit immediate that every message carries (PROTOCOL.md, section 3), in host order; a backend converts it to
 * and from the order of its device.
 *
 * <pre>
 *  31 30    28 27          14 13           0
 * +--+--------------------------------------+
 * | 0|             length in bytes          |  DATA
 * +--+--------+--------------+--------------+
 * | 1|  kind  |    data WRs  |  byte units  |  CREDIT
 * +--+--------+--------------+------------+-+
 * | 1|  kind  |             0             |C|  FIN (C: CLOSE); HELLO, FIN_ACK and RESET have no payload
 * +--+--------+---------------------------+-+
 * </pre>
 *
 * <p>0 is no message ({@link #NONE}): a DATA message has at least one byte. Static functions only, safe for any
 * thread.
 */
public final class Immediate {
    /** No message. */
    public static final int NONE = 0;

    /** Kind of a DATA message; in the immediate it has no bits of its own. */
    public static final int DATA = -1;

    /** Kind of the client's first message. */
    public static final int HELLO = 0;

    /** Kind of the message that gives back ring bytes and data receive work requests. */
    public static final int CREDIT = 1;

    /** Kind of the message that ends the sender's byte stream. */
    public static final int FIN = 2;

    /** Kind of the answer to the first FIN. */
    public static final int FIN_ACK = 3;

    /** Kind of the message that ends the connection at once. */
    public static final int RESET = 4;

    /** Payload bit of FIN: the sender will not read any more either. */
    public static final int CLOSE_BIT = 1;

    private static final int CONTROL_BIT = 1 << 31;
    private static final int KIND_SHIFT = 28;
    private static final int KIND_MASK = 7;
    private static final int PAYLOAD_MASK = (1 << KIND_SHIFT) - 1;
    private static final int FIELD_BITS = 14;
    private static final int FIELD_MASK = (1 << FIELD_BITS) - 1;

    private Immediate() {}

    /**
     * Encodes DATA.
     *
     * @param lengthBytes length of the message, at least 1
     * @return the immediate
     */
    public static int data(int lengthBytes) {
        assert lengthBytes > 0 : lengthBytes;
        return lengthBytes;
    }

    /**
     * Encodes CREDIT.
     *
     * @param dataWrs receive work requests given back, 0 to 16383
     * @param byteUnits ring bytes given back, in the lender's units ({@link CreditTerms#unitBytes()}), 0 to 16383
     * @return the immediate
     */
    public static int credit(int dataWrs, int byteUnits) {
        assert (dataWrs & ~FIELD_MASK) == 0 && (byteUnits & ~FIELD_MASK) == 0 : dataWrs + "/" + byteUnits;
        return control(CREDIT, dataWrs << FIELD_BITS | byteUnits);
    }

    /**
     * Encodes FIN.
     *
     * @param close whether the sender will not read any more either
     * @return the immediate
     */
    public static int fin(boolean close) {
        return control(FIN, close ? CLOSE_BIT : 0);
    }

    /**
     * Encodes a control message without payload.
     *
     * @param kind HELLO, FIN_ACK or RESET
     * @return the immediate
     */
    public static int control(int kind) {
        return control(kind, 0);
    }

    static int control(int kind, int payload) {
        return CONTROL_BIT | kind << KIND_SHIFT | payload;
    }

    /**
     * The kind of a message.
     *
     * @param immediate any immediate
     * @return {@link #DATA}, or the three bits of a control message, which may be a kind that does not exist
     */
    public static int kind(int immediate) {
        return immediate >= 0 ? DATA : immediate >>> KIND_SHIFT & KIND_MASK;
    }

    /**
     * The length of a DATA message.
     *
     * @param immediate an immediate of kind DATA
     * @return length in bytes, unchecked
     */
    public static int dataBytes(int immediate) {
        return immediate & ~CONTROL_BIT;
    }

    /**
     * The payload of a control message.
     *
     * @param immediate an immediate of a control kind
     * @return 28 bits, unchecked
     */
    public static int payload(int immediate) {
        return immediate & PAYLOAD_MASK;
    }

    /**
     * The work requests that a CREDIT gives back.
     *
     * @param immediate an immediate of kind CREDIT
     * @return a count, unchecked
     */
    public static int creditWrs(int immediate) {
        return immediate >>> FIELD_BITS & FIELD_MASK;
    }

    /**
     * The byte units that a CREDIT gives back.
     *
     * @param immediate an immediate of kind CREDIT
     * @return a count of units, unchecked
     */
    public static int creditByteUnits(int immediate) {
        return immediate & FIELD_MASK;
    }

    /**
     * Describes an immediate for messages and traces.
     *
     * @param immediate any immediate
     * @return such as {@code DATA[64]} or {@code FIN[CLOSE]}
     */
    public static String describe(int immediate) {
        return switch (kind(immediate)) {
            case DATA -> "DATA[" + dataBytes(immediate) + "]";
            case HELLO -> "HELLO";
            case CREDIT -> "CREDIT[wrs=" + creditWrs(immediate) + ",units=" + creditByteUnits(immediate) + "]";
            case FIN -> (payload(immediate) & CLOSE_BIT) != 0 ? "FIN[CLOSE]" : "FIN";
            case FIN_ACK -> "FIN_ACK";
            case RESET -> "RESET";
            default -> "kind" + kind(immediate) + "[0x" + Integer.toHexString(payload(immediate)) + "]";
        };
    }
}
