package io.verbena.rdma.protocol;

/**
 * What a side tells its peer about its receive ring.
 *
 * @param ringAddress address of the ring in the device's terms, all 64 bits
 * @param rkey the ring's remote key
 * @param ringBytesLog2 log2 of the ring's bytes
 * @param dataWrs data receives that the side posts
 */
public record RingOffer(long ringAddress, int rkey, int ringBytesLog2, int dataWrs) {
    /**
     * The ring's size.
     *
     * @return size in bytes
     */
    public int ringBytes() {
        return 1 << ringBytesLog2;
    }

    /**
     * The credit rules that follow.
     *
     * @return the terms
     * @throws IllegalArgumentException if a value is out of its range, which a decoded offer's never is
     */
    public CreditTerms terms() {
        return CreditTerms.of(ringBytesLog2, dataWrs);
    }
}
