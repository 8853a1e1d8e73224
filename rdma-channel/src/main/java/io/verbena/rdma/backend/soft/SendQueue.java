package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * The sending half of a queue pair: copies payload into the peer's memory, publishes descriptors in the peer's ring,
 * wakes a peer that has armed.
 *
 * <p>A request for which the peer has no receive (RNR), or no room in its send area, waits in a private queue with all
 * that follow it, as RC's order demands; later posts, and polls of the completion queue, try again.
 *
 * <p>Thread-safe; the lock is this object. Whoever holds it may be writing to the peer's memory: {@link #stop} returns
 * only when nobody is, and afterwards nobody ever will be.
 */
final class SendQueue {
    /** How long one RNR retry waits; a request with rnr_retry=n fails after n times this. */
    static final long RNR_RETRY_NS = 10_000_000;

    private static final int WAIT_RECEIVE = -1;
    private static final int WAIT_SPACE = -2;

    private final SoftQp qp;
    private final int maxWr;
    private final boolean signalAll;
    private final CompletionRing completions;
    private final ArrayDeque<SoftSendWr> waiting = new ArrayDeque<>();
    /** Whether {@link #waiting} has an element: read without the lock by pollers. */
    private volatile boolean blocked;

    private boolean stopped;
    private PeerMemory peer;
    private Connection connection;
    private MemorySegment block;
    private int log2Entries;
    private long ring;
    private long sendArea;
    private int rnrRetry = 7;
    /** Messages published, the peer's receives as last read; the same in bytes for the send area. */
    private long sent;

    private long peerPosted;
    private long areaUsed;
    private long areaConsumed;
    /** The peer's armed word as it was when we last woke it. */
    private long wokenFor;

    /** The peer's counters are impossible: the request at hand fails, and with it the queue pair. */
    private boolean violated;

    private boolean published;
    private boolean publishedSolicited;

    SendQueue(SoftQp qp, int maxWr, boolean signalAll) {
        this.qp = qp;
        this.maxWr = maxWr;
        this.signalAll = signalAll;
        this.completions = new CompletionRing(maxWr);
    }

    /** Begins to send (RTS). */
    synchronized void start(Connection to, PeerMemory memory, int rnrRetries) {
        connection = to;
        peer = memory;
        block = memory.block;
        log2Entries = Integer.numberOfTrailingZeros(memory.ringEntries);
        ring = BlockDescriptor.RING;
        sendArea = BlockDescriptor.sendArea(memory.ringEntries);
        rnrRetry = rnrRetries;
    }

    /** Flushes what waits; later posts are flushed too. Idempotent. */
    synchronized void stop() {
        stopped = true;
        flushWaiting();
    }

    private void flushWaiting() {
        SoftSendWr wr;
        while ((wr = waiting.poll()) != null) {
            complete(wr, Completions.WR_FLUSH_ERR);
        }
        blocked = false;
    }

    int pendingCompletions() {
        return completions.size();
    }

    int maxWr() {
        return maxWr;
    }

    /** Takes completions; under the completion queue's lock. */
    int poll(IbvWC[] wcs, int at, int max, int qpNum) {
        return completions.poll(wcs, at, max, qpNum);
    }

    /** Tries the waiting requests again, if there are any. */
    void retryIfBlocked() {
        if (blocked) {
            synchronized (this) {
                retry();
                wakePeer();
            }
        }
    }

    /**
     * Posts requests in order (ibv_post_send(3)).
     *
     * @throws IOException if one is malformed or the queue is full: it and those after it are not posted
     */
    synchronized void post(SoftSendWr[] wrs) throws IOException {
        try {
            for (SoftSendWr wr : wrs) {
                postOne(wr);
            }
        } finally {
            wakePeer();
        }
    }

    private void postOne(SoftSendWr wr) throws IOException {
        check(wr);
        if (stopped) {
            complete(wr, Completions.WR_FLUSH_ERR);
            return;
        }
        if (blocked) {
            retry();
        }
        int result = stopped ? Completions.WR_FLUSH_ERR : blocked ? WAIT_RECEIVE : transmit(wr);
        if (result < 0) {
            enqueue(wr, result);
        } else {
            finish(wr, result);
        }
    }

    private void check(SoftSendWr wr) throws IOException {
        int length = wr.length();
        if (peer == null && !stopped) {
            throw new IOException("post_send failed: EINVAL (the queue pair is not connected)");
        }
        if (wr.opcode < IbvSendWR.IBV_WR_RDMA_WRITE || wr.opcode > IbvSendWR.IBV_WR_SEND_WITH_IMM) {
            throw new IOException("post_send failed: EINVAL (the soft device has no opcode " + wr.opcode + ")");
        }
        int limit =
                wr.opcode >= IbvSendWR.IBV_WR_SEND ? BlockDescriptor.SEND_AREA_BYTES : WireDescriptor.MAX_MESSAGE_BYTES;
        if (length < 0 || length > limit) {
            throw new IOException("post_send failed: EINVAL (message of " + length + " bytes; the soft device takes "
                    + limit + " for this opcode)");
        }
        if (waiting.size() + completions.size() >= maxWr) {
            throw new IOException("post_send failed: ENOMEM (max_send_wr=" + maxWr
                    + " requests are outstanding; poll the completion queue or raise it)");
        }
    }

    private void enqueue(SoftSendWr wr, int why) {
        SoftSendWr copy = new SoftSendWr(wr);
        setDeadline(copy, why);
        waiting.add(copy);
        blocked = true;
    }

    private void setDeadline(SoftSendWr wr, int why) {
        wr.deadlineNs = why == WAIT_RECEIVE && rnrRetry < 7 ? System.nanoTime() + rnrRetry * RNR_RETRY_NS : 0;
    }

    private void retry() {
        SoftSendWr wr;
        while ((wr = waiting.peek()) != null) {
            int result = transmit(wr);
            if (result < 0 && (result == WAIT_SPACE || wr.deadlineNs == 0 || System.nanoTime() < wr.deadlineNs)) {
                break;
            }
            SoftSendWr unused = waiting.poll();
            finish(wr, result < 0 ? Completions.RNR_RETRY_EXC_ERR : result);
            if (!waiting.isEmpty()) {
                setDeadline(waiting.peek(), WAIT_RECEIVE);
            }
        }
        blocked = !waiting.isEmpty();
    }

    private void finish(SoftSendWr wr, int status) {
        if (status != Completions.SUCCESS) {
            complete(wr, status);
            qp.fail();
        } else if (signalAll || wr.isSignaled()) {
            complete(wr, status);
        }
    }

    private void complete(SoftSendWr wr, int status) {
        int opcode = wr.opcode >= IbvSendWR.IBV_WR_SEND ? Completions.OP_SEND : Completions.OP_RDMA_WRITE;
        completions.add(wr.wrId, status, opcode, wr.length());
        qp.sendCq().completed();
    }

    // --- one message -----------------------------------------------------------------------------------------------

    /** Sends a request; the completion status, or why it must wait. */
    private int transmit(SoftSendWr wr) {
        int length = wr.length();
        if (wr.opcode >= IbvSendWR.IBV_WR_SEND) {
            return transmitSend(wr, length);
        }
        if (length > 0 && !peer.resolve(wr.remoteAddress, wr.rkey, length, IbvMr.IBV_ACCESS_REMOTE_WRITE)) {
            return Completions.REM_ACCESS_ERR;
        }
        boolean withImmediate = wr.opcode == IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM;
        if (withImmediate && sent == peerPosted && !receivesPosted()) {
            return violated ? Completions.REM_OP_ERR : WAIT_RECEIVE;
        }
        if (length > 0 && !copyToRegion(wr)) {
            return Completions.LOC_PROT_ERR;
        }
        if (withImmediate) {
            publish(wr, WireDescriptor.WRITE_IMM, length);
        }
        return Completions.SUCCESS;
    }

    private int transmitSend(SoftSendWr wr, int length) {
        if (sent == peerPosted && !receivesPosted()) {
            return violated ? Completions.REM_OP_ERR : WAIT_RECEIVE;
        }
        int needed = (length + 7) & ~7;
        if (areaUsed + needed - areaConsumed > BlockDescriptor.SEND_AREA_BYTES && !areaHasRoom(needed)) {
            return violated ? Completions.REM_OP_ERR : WAIT_SPACE;
        }
        if (!copyToArea(wr)) {
            return Completions.LOC_PROT_ERR;
        }
        areaUsed += needed;
        boolean immediate = wr.opcode == IbvSendWR.IBV_WR_SEND_WITH_IMM;
        publish(wr, immediate ? WireDescriptor.SEND_IMM : WireDescriptor.SEND, length);
        return Completions.SUCCESS;
    }

    private void publish(SoftSendWr wr, int opcode, int length) {
        boolean solicited = wr.isSolicited();
        long descriptor = WireDescriptor.of(sent, log2Entries, opcode, solicited, length, wr.immediate);
        long at = ring + (sent & (1L << log2Entries) - 1) * WireDescriptor.BYTES;
        // Pairs with the acquire in ReceiveQueue.next; publishes the payload.
        Shared.setRelease(block, at, descriptor);
        sent++;
        published = true;
        publishedSolicited |= solicited;
    }

    private boolean receivesPosted() {
        // Pairs with the release in ReceiveQueue.post: the receive is there, and its ring entry was read.
        long posted = Shared.getAcquire(block, BlockDescriptor.POSTED);
        if (posted < peerPosted || posted - sent > 1L << log2Entries) {
            violated = true;
            return false;
        }
        peerPosted = posted;
        return posted != sent;
    }

    private boolean areaHasRoom(int needed) {
        // Pairs with the release in ReceiveQueue.freeArea: the bytes were read.
        long consumed = Shared.getAcquire(block, BlockDescriptor.CONSUMED);
        if (consumed < areaConsumed || consumed > areaUsed) {
            violated = true;
            return false;
        }
        areaConsumed = consumed;
        return areaUsed + needed - consumed <= BlockDescriptor.SEND_AREA_BYTES;
    }

    /** Wakes the peer if it armed and has not been woken since. */
    private void wakePeer() {
        if (!published) {
            return;
        }
        // Dekker's pattern with SoftCq.arm: our descriptor is visible before we look at the armed word, its armed word
        // before it looks at the ring again.
        VarHandle.fullFence();
        long armed = Shared.getOpaque(block, BlockDescriptor.ARMED);
        if (armed != wokenFor && (publishedSolicited || (armed & 1) == 0)) {
            wokenFor = armed;
            connection.wake();
        }
        published = false;
        publishedSolicited = false;
    }

    // --- payload ---------------------------------------------------------------------------------------------------

    private boolean copyToRegion(SoftSendWr wr) {
        if (wr.inlineSource != null) {
            ByteBuffer unused = peer.view().put(peer.viewIndex(), wr.inlineSource, wr.inlineOffset, wr.inlineLength);
            return true;
        }
        long at = peer.targetOffset();
        for (int i = 0; i < wr.sgeCount; i++) {
            SoftSge sge = wr.sges[i];
            if (!copy(wr, sge, 0, peer.target(), at, sge.length)) {
                return false;
            }
            at += sge.length;
        }
        return true;
    }

    private boolean copyToArea(SoftSendWr wr) {
        int at = (int) areaUsed & BlockDescriptor.SEND_AREA_BYTES - 1;
        if (wr.inlineSource != null) {
            MemorySegment source =
                    MemorySegment.ofBuffer(wr.inlineSource.duplicate().clear());
            copyAround(source, wr.inlineOffset, at, wr.inlineLength);
            return true;
        }
        for (int i = 0; i < wr.sgeCount; i++) {
            SoftSge sge = wr.sges[i];
            int first = Math.min(sge.length, BlockDescriptor.SEND_AREA_BYTES - at);
            if (!copy(wr, sge, 0, block, sendArea + at, first)
                    || !copy(wr, sge, first, block, sendArea, sge.length - first)) {
                return false;
            }
            at = at + sge.length & BlockDescriptor.SEND_AREA_BYTES - 1;
        }
        return true;
    }

    private void copyAround(MemorySegment source, long offset, int at, int length) {
        int first = Math.min(length, BlockDescriptor.SEND_AREA_BYTES - at);
        MemorySegment.copy(source, offset, block, sendArea + at, first);
        MemorySegment.copy(source, offset + first, block, sendArea, length - first);
    }

    private boolean copy(SoftSendWr wr, SoftSge sge, int from, MemorySegment target, long at, int length) {
        if (length == 0) {
            return true;
        }
        if (wr.isInline()) {
            MemorySegment.copy(SoftSge.ADDRESS_SPACE, sge.address + from, target, at, length);
            return true;
        }
        SoftMr mr = qp.pd().find(sge.lkey);
        if (mr == null || !mr.contains(sge.address, sge.length)) {
            return false;
        }
        MemorySegment.copy(mr.memory(), sge.address - mr.getAddr() + from, target, at, length);
        return true;
    }
}
