package io.verbena.rdma.backend.soft;

/**
 * Layout of the block of shared memory that each side of a connection owns and the peer maps.
 *
 * <pre>
 *   offset   words                         written by   read by
 *   +------+-----------------------------+
 *   | 0x000| posted                      | owner        peer, when it runs out of receives
 *   +------+-----------------------------+
 *   | 0x080| armed                       | owner        peer, after each message
 *   +------+-----------------------------+
 *   | 0x100| consumed                    | owner        peer, when the send area is full
 *   +------+-----------------------------+
 *   | 0x180| 8 keys of 64 bytes:         | owner        peer, with each RDMA request
 *   |      |  rkey | access &lt;&lt; 32        |
 *   |      |  address                    |
 *   |      |  length                     |
 *   |      |  segment id                 |
 *   |      |  offset in the segment      |
 *   +------+-----------------------------+
 *   | 0x400| ring: n descriptors         | peer         owner
 *   |      |  of 8 bytes (WireDescriptor)|
 *   +------+-----------------------------+
 *   |      | send area: the payload of   | peer         owner
 *   |      |  SENDs, a ring of bytes     |
 *   +------+-----------------------------+
 * </pre>
 *
 * <p>No word has two writers. {@code posted} counts receive requests since the beginning, {@code consumed} bytes of the
 * send area since the beginning (each message rounded up to 8).
 */
final class BlockDescriptor {
    static final long POSTED = 0x000;
    static final long ARMED = 0x080;
    static final long CONSUMED = 0x100;
    static final long KEYS = 0x180;
    static final int KEY_COUNT = 8;
    static final long KEY_BYTES = 64;
    static final long KEY_RKEY_ACCESS = 0;
    static final long KEY_ADDRESS = 8;
    static final long KEY_LENGTH = 16;
    static final long KEY_SEGMENT = 24;
    static final long KEY_OFFSET = 32;
    static final long RING = 0x400;

    /** Bytes of the send area, and so the longest SEND. */
    static final int SEND_AREA_BYTES = 64 * 1024;

    static final int MIN_RING_ENTRIES = 8;
    static final int MAX_RING_ENTRIES = 65536;

    static {
        assert KEYS + KEY_COUNT * KEY_BYTES <= RING;
        assert Integer.bitCount(SEND_AREA_BYTES) == 1;
    }

    private BlockDescriptor() {}

    /** Entries of the ring for a receive queue: a power of two. */
    static int ringEntries(int maxRecvWr) {
        int wanted = Math.max(MIN_RING_ENTRIES, maxRecvWr);
        return Integer.highestOneBit(wanted * 2 - 1);
    }

    /** Whether a number of entries that the peer announced is one of ours. */
    static boolean isRingEntries(int entries) {
        return Integer.bitCount(entries) == 1 && entries >= MIN_RING_ENTRIES && entries <= MAX_RING_ENTRIES;
    }

    /** Offset of the send area. */
    static long sendArea(int ringEntries) {
        return RING + (long) ringEntries * WireDescriptor.BYTES;
    }

    /** Bytes of a whole block. */
    static long bytes(int ringEntries) {
        return sendArea(ringEntries) + SEND_AREA_BYTES;
    }
}
