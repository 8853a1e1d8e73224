package io.verbena.rdma.backend.soft;

/**
 * The ids and elements of outstanding receives, run-length encoded: equal requests without elements posted in a row
 * take one entry however many they are. Guarded by its {@link ReceiveQueue}'s lock.
 */
final class RecvRuns {
    private final int maxSge;
    private int mask = 15;
    private long[] wrIds = new long[16];
    /** The number of receives ever posted at the end of the run. */
    private long[] ends = new long[16];

    private int[] sgeCounts = new int[16];
    /** maxSge elements a run; allocated when the first request with elements comes. */
    private long[] addresses = {};

    private int[] lengths = {};
    private int[] lkeys = {};

    private long first;
    private long last;

    RecvRuns(int maxSge) {
        this.maxSge = maxSge;
    }

    /** Adds receives up to position {@code end}. */
    void add(SoftRecvWr wr, long end) {
        int sges = wr.sges.length;
        int previous = (int) (last - 1) & mask;
        if (sges == 0 && last != first && sgeCounts[previous] == 0 && wrIds[previous] == wr.wrId) {
            ends[previous] = end;
            return;
        }
        if (last - first > mask) {
            grow();
        }
        int i = (int) last & mask;
        wrIds[i] = wr.wrId;
        ends[i] = end;
        sgeCounts[i] = sges;
        if (sges > 0) {
            setSges(i * maxSge, wr.sges);
        }
        last++;
    }

    private void setSges(int at, SoftSge[] sges) {
        if (addresses.length == 0) {
            int size = (mask + 1) * maxSge;
            addresses = new long[size];
            lengths = new int[size];
            lkeys = new int[size];
        }
        for (int i = 0; i < sges.length; i++) {
            addresses[at + i] = sges[i].address;
            lengths[at + i] = sges[i].length;
            lkeys[at + i] = sges[i].lkey;
        }
    }

    /** Doubles the arrays, the outstanding runs first. */
    private void grow() {
        int old = mask + 1;
        long[] newIds = new long[old * 2];
        long[] newEnds = new long[old * 2];
        int[] newCounts = new int[old * 2];
        int size = addresses.length == 0 ? 0 : old * 2 * maxSge;
        long[] newAddresses = new long[size];
        int[] newLengths = new int[size];
        int[] newLkeys = new int[size];
        for (int to = 0; to < old; to++) {
            int from = (int) (first + to) & mask;
            newIds[to] = wrIds[from];
            newEnds[to] = ends[from];
            newCounts[to] = sgeCounts[from];
            if (size > 0) {
                System.arraycopy(addresses, from * maxSge, newAddresses, to * maxSge, maxSge);
                System.arraycopy(lengths, from * maxSge, newLengths, to * maxSge, maxSge);
                System.arraycopy(lkeys, from * maxSge, newLkeys, to * maxSge, maxSge);
            }
        }
        wrIds = newIds;
        ends = newEnds;
        sgeCounts = newCounts;
        addresses = newAddresses;
        lengths = newLengths;
        lkeys = newLkeys;
        last -= first;
        first = 0;
        mask = old * 2 - 1;
    }

    /** Moves to the run of the receive at a position, which must have been posted. */
    void advance(long position) {
        while (ends[(int) first & mask] <= position) {
            first++;
        }
        assert first < last;
    }

    long wrId() {
        return wrIds[(int) first & mask];
    }

    int sgeCount() {
        return sgeCounts[(int) first & mask];
    }

    long address(int i) {
        return addresses[((int) first & mask) * maxSge + i];
    }

    int length(int i) {
        return lengths[((int) first & mask) * maxSge + i];
    }

    int lkey(int i) {
        return lkeys[((int) first & mask) * maxSge + i];
    }
}
