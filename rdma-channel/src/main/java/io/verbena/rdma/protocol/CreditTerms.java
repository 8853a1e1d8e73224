package io.verbena.rdma.protocol;

import io.verbena.rdma.ring.RingGeometry;

/**
 * What one side lends the other: its receive ring and its data receives, and the rules by which both come back
 * (PROTOCOL.md, section 5). Immutable, safe for any thread.
 */
public final class CreditTerms {
    private static final int UNITS_PER_RING = 8192;

    private final RingGeometry ring;
    private final int dataWrs;
    private final int unitBytes;
    private final int halfBytes;
    private final int halfWrs;

    private CreditTerms(int ringBytes, int dataWrs) {
        this.ring = new RingGeometry(ringBytes);
        this.dataWrs = dataWrs;
        this.unitBytes = Math.max(1, ringBytes / UNITS_PER_RING);
        this.halfBytes = Math.max(1, ringBytes / 2);
        // Rounded up: three messages that each return this many would exceed what was lent (CONTROL_WRS counts on it).
        this.halfWrs = (dataWrs + 1) / 2;
        assert halfBytes % unitBytes == 0 : this;
    }

    /**
     * Terms of a ring on the wire.
     *
     * @param ringBytesLog2 log2 of the ring's bytes, 12 to 27
     * @param dataWrs data receives, 1 to 16383
     * @return the terms
     * @throws IllegalArgumentException if a value is out of its range
     */
    public static CreditTerms of(int ringBytesLog2, int dataWrs) {
        check("ringBytesLog2", ringBytesLog2, ProtocolLimits.MIN_RING_BYTES_LOG2, ProtocolLimits.MAX_RING_BYTES_LOG2);
        check("dataWrs", dataWrs, ProtocolLimits.MIN_DATA_WRS, ProtocolLimits.MAX_DATA_WRS);
        return new CreditTerms(1 << ringBytesLog2, dataWrs);
    }

    /** Terms of a ring smaller than the wire allows, for tests that want it full and wrapping all the time. */
    static CreditTerms tiny(int ringBytes, int dataWrs) {
        return new CreditTerms(ringBytes, dataWrs);
    }

    private static void check(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + "=" + value + " not in [" + min + ", " + max + "]");
        }
    }

    /**
     * The ring's geometry.
     *
     * @return the geometry
     */
    public RingGeometry ring() {
        return ring;
    }

    /**
     * Bytes lent.
     *
     * @return the ring's size in bytes
     */
    public int ringBytes() {
        return ring.ringBytes();
    }

    /**
     * Data receives lent.
     *
     * @return a count of work requests
     */
    public int dataWrs() {
        return dataWrs;
    }

    /**
     * The unit of a CREDIT's byte field: a ring has at most 8192 units, so a full ring fits its 14 bits.
     *
     * @return bytes per unit, a power of two that divides half of the ring
     */
    public int unitBytes() {
        return unitBytes;
    }

    /**
     * Whether a CREDIT is to be sent: half of the ring, or half of the receives (rounded up), can be given back.
     *
     * @param uncreditedBytes bytes read but not given back
     * @param uncreditedWrs receives posted again but not given back
     * @return whether a CREDIT is due
     */
    public boolean creditDue(long uncreditedBytes, long uncreditedWrs) {
        return uncreditedBytes >= halfBytes || uncreditedWrs >= halfWrs;
    }

    @Override
    public String toString() {
        return "CreditTerms[ringBytes=" + ringBytes() + ", dataWrs=" + dataWrs + ", unitBytes=" + unitBytes + "]";
    }
}
