package io.verbena.rdma.protocol;

import io.verbena.rdma.ring.RingGeometry;

/**
 * The slots of a send queue with selective signalling, and the local send ring that its requests read from.
 *
 * <p>Request n (counted from 1) ends at {@code ringEnds[(n - 1) & mask]} in the send ring, so a completion of request n
 * frees the slots up to n and the ring up to that position. Changed under the send lock; the counts may be read by any
 * thread (the array's entries are published by the release of {@link HalfBridge#addPosted}).
 *
 * <p>Invariant: while no data slot is free, or the send ring is more than half full, a signalled request is
 * outstanding. The request that leaves less than one message's data slots is signalled, so is every control message,
 * and so is the request with which half of the ring is in use by unsignalled requests; more than half of it in use
 * without a signalled request outstanding would be such a half.
 */
final class SendQueue {
    private final HalfBridge bridge;
    private final int sqDepth;
    private final int dataSlots;
    private final int slotsPerData;
    private final int signalInterval;
    private final RingGeometry ring;
    private final long[] ringEnds;
    private final int mask;

    private long lastSignalled;
    private long signalledRingEnd;

    SendQueue(HalfBridge bridge, SendLimits limits) {
        this.bridge = bridge;
        this.sqDepth = limits.sqDepth();
        this.dataSlots = sqDepth - ProtocolLimits.CONTROL_SLOTS;
        this.slotsPerData = limits.codec().slotsPerData();
        this.signalInterval = limits.signalInterval();
        this.ring = new RingGeometry(Math.max(1, limits.sendRingBytes()));
        // More entries than slots: request n and the n that completed last never share an entry.
        this.ringEnds = new long[Integer.highestOneBit(sqDepth) << 1];
        this.mask = ringEnds.length - 1;
    }

    int outstanding() {
        long completed = bridge.completedRequests();
        return (int) (bridge.postedRequests() - completed);
    }

    int freeSlots() {
        return sqDepth - outstanding();
    }

    /** Free slots that data may take; negative if control messages are in the reserve. */
    int freeDataSlots() {
        return dataSlots - outstanding();
    }

    /** Whether a completion is to come. Under the send lock. */
    boolean signalledOutstanding() {
        return lastSignalled > bridge.completedRequests();
    }

    private long ringEnd(long request) {
        return ringEnds[(int) (request - 1) & mask];
    }

    /** Offset of the next byte in the send ring. Under the send lock. */
    int ringOffset() {
        return ring.offset(ringEnd(bridge.postedRequests()));
    }

    /**
     * How many of so many bytes fit into the send ring in one piece. Less than a quarter of the ring is not used for a
     * part of a longer message: a nearly full ring would be cut into ever smaller pieces.
     */
    int ringPermits(int bytes) {
        long freed = ringEnd(bridge.completedRequests());
        long used = ringEnd(bridge.postedRequests());
        int free = (int) Math.max(0, ring.ringBytes() - (used - freed));
        if (free < Math.min(bytes, Math.max(1, ring.ringBytes() / 4))) {
            return 0;
        }
        return ring.contiguous(used, Math.min(bytes, free));
    }

    /** Books a DATA message that takes so many bytes of the send ring; tells whether it is signalled. */
    boolean addData(int ringBytes) {
        add(slotsPerData, ringBytes);
        long posted = bridge.postedRequests();
        boolean signalled = posted - lastSignalled >= signalInterval
                || freeDataSlots() < slotsPerData
                || (ringEnd(posted) - signalledRingEnd) * 2 >= Math.max(2, ring.ringBytes());
        if (signalled) {
            signal(posted);
        }
        return signalled;
    }

    /** Books a signalled control message or keepalive. */
    void addControl() {
        if (freeSlots() < 1) {
            throw new IllegalStateException("no send queue slot: sqDepth=" + sqDepth + " all outstanding");
        }
        add(1, 0);
        signal(bridge.postedRequests());
    }

    private void signal(long request) {
        lastSignalled = request;
        signalledRingEnd = ringEnd(request);
    }

    private void add(int requests, int bytes) {
        long posted = bridge.postedRequests();
        long end = ringEnd(posted) + bytes;
        for (int i = 1; i <= requests; i++) {
            ringEnds[(int) (posted + i - 1) & mask] = end;
        }
        bridge.addPosted(requests);
    }
}
