package io.verbena.rdma.protocol;

/** Private data of a connection set-up that was not understood. */
public final class PrivateDataException extends Exception {
    private static final long serialVersionUID = 1L;

    /** What was wrong. */
    public enum Fault {
        /** Less bytes than the structure has; the limit is the least length. */
        TOO_SHORT,
        /** Another magic: a foreign service, or no private data at all. */
        MAGIC,
        /** A connect where an accept was due, or the like. */
        KIND,
        /** The length field is beyond what came, or below what the kind has. */
        LENGTH,
        /** No version in common; the value is the peer's nearest version, the limit ours. */
        VERSION,
        /** The ring's size is out of range; value and limit are log2 of bytes. */
        RING_BYTES,
        /** The ring would not fit into the address space; the limit is the greatest address of such a ring. */
        RING_ADDRESS,
        /** The number of data receives is out of range. */
        DATA_WRS,
        /** The source port is 0. */
        SOURCE_PORT
    }

    private final Fault fault;
    private final long value;
    private final long limit;

    PrivateDataException(Fault fault, long value, long limit) {
        super(
                "private data: " + fault + " value=" + show(fault, value) + " limit=" + show(fault, limit),
                null,
                false,
                true);
        this.fault = fault;
        this.value = value;
        this.limit = limit;
    }

    private static String show(Fault fault, long number) {
        boolean hex = fault == Fault.MAGIC || fault == Fault.RING_ADDRESS;
        return hex ? "0x" + Long.toHexString(number) : Long.toString(number);
    }

    /**
     * What was wrong.
     *
     * @return the fault
     */
    public Fault fault() {
        return fault;
    }

    /**
     * The value that came.
     *
     * @return the value
     */
    public long value() {
        return value;
    }

    /**
     * The bound that it broke.
     *
     * @return the nearest allowed value
     */
    public long limit() {
        return limit;
    }
}
