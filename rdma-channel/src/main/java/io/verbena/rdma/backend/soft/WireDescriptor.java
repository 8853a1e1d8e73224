package io.verbena.rdma.backend.soft;

/**
 * One message in a ring of shared memory: a single 64-bit word, so it is there or not.
 *
 * <pre>
 *   63                            32 31                      6    5     4..1      0
 *   +-------------------------------+-------------------------+-----+---------+-------+
 *   | immediate                     | payload bytes           | sol | opcode  | phase |
 *   +-------------------------------+-------------------------+-----+---------+-------+
 * </pre>
 *
 * <p>The phase is 1 in the first lap of the ring, 0 in the second and so on: a reader that expects the other value sees
 * an entry not yet written, without any tail word.
 */
final class WireDescriptor {
    static final int BYTES = 8;
    /** RDMA WRITE WITH IMM. */
    static final int WRITE_IMM = 1;

    static final int SEND = 2;
    static final int SEND_IMM = 3;

    /** The longest message of any kind. */
    static final int MAX_MESSAGE_BYTES = (1 << 26) - 1;

    private static final int SOLICITED = 1 << 5;
    private static final int LENGTH_SHIFT = 6;

    private WireDescriptor() {}

    /** Packs a descriptor for position {@code sequence} of a ring with {@code 1 << log2Entries} entries. */
    static long of(long sequence, int log2Entries, int opcode, boolean solicited, int length, int immediate) {
        return (long) immediate << 32
                | (long) length << LENGTH_SHIFT
                | (solicited ? SOLICITED : 0)
                | opcode << 1
                | phase(sequence, log2Entries);
    }

    private static long phase(long sequence, int log2Entries) {
        return ~(sequence >>> log2Entries) & 1;
    }

    /** Whether an entry read at position {@code sequence} was written in this lap. */
    static boolean isNew(long descriptor, long sequence, int log2Entries) {
        return (descriptor & 1) == phase(sequence, log2Entries);
    }

    static int opcode(long descriptor) {
        return (int) descriptor >>> 1 & 0xF;
    }

    static boolean isSolicited(long descriptor) {
        return (descriptor & SOLICITED) != 0;
    }

    static int length(long descriptor) {
        return (int) descriptor >>> LENGTH_SHIFT;
    }

    static int immediate(long descriptor) {
        return (int) (descriptor >>> 32);
    }
}
