package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvWC;

/**
 * Completions of one send queue on their way to the completion queue: private to this process. One producer (under the
 * send queue's lock), one consumer (under the completion queue's lock).
 */
final class CompletionRing {
    private final int mask;
    private final long[] wrIds;
    /** Status and opcode. */
    private final int[] codes;

    private final int[] lengths;
    private volatile long tail;
    private volatile long head;

    /** A ring for at least {@code capacity} completions. */
    CompletionRing(int capacity) {
        int entries = Integer.highestOneBit(Math.max(2, capacity) * 2 - 1);
        mask = entries - 1;
        wrIds = new long[entries];
        codes = new int[entries];
        lengths = new int[entries];
    }

    int size() {
        return (int) (tail - head);
    }

    /** Adds one; the caller has made sure that there is room. */
    void add(long wrId, int status, int opcode, int length) {
        long at = tail;
        assert at - head <= mask : "more completions than work requests";
        int i = (int) at & mask;
        wrIds[i] = wrId;
        codes[i] = status << 8 | opcode;
        lengths[i] = length;
        // Pairs with the read of tail in poll; publishes the entry.
        tail = at + 1;
    }

    /** Moves completions into {@code wcs} from index {@code at} on; returns the index behind the last. */
    int poll(IbvWC[] wcs, int at, int max, int qpNum) {
        long from = head;
        long to = tail;
        int index = at;
        while (index < max && from != to) {
            int i = (int) from & mask;
            Completions.set(wcs[index++], wrIds[i], codes[i] >>> 8, codes[i] & 0xFF, lengths[i], 0, 0, qpNum);
            from++;
        }
        if (index != at) {
            // Pairs with the read of head in add and size; the entries are free again.
            head = from;
        }
        return index;
    }
}
