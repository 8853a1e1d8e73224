package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvWC;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * The receiving half of a queue pair: counts receives for the peer, and turns descriptors in our ring into completions.
 *
 * <p>{@link #post} is thread-safe; {@link #poll} is called under the completion queue's lock. What the peer wrote is
 * copied before it is checked, and checked before it is used.
 */
final class ReceiveQueue {
    private final SoftQp qp;
    private final MemorySegment block;
    private final int maxWr;
    private final int log2Entries;
    private final long sendArea;
    private final RecvRuns runs;

    /** Receives ever posted; written under this object's lock, mirrored in the block. */
    private volatile long posted;
    /** Receives ever completed; written under the completion queue's lock. */
    private volatile long head;

    private long areaHead;
    private boolean flushing;

    ReceiveQueue(SoftQp qp, MemorySegment block, int maxWr, int ringEntries, int maxSge) {
        this.qp = qp;
        this.block = block;
        this.maxWr = maxWr;
        this.log2Entries = Integer.numberOfTrailingZeros(ringEntries);
        this.sendArea = BlockDescriptor.sendArea(ringEntries);
        this.runs = new RecvRuns(maxSge);
    }

    int maxWr() {
        return maxWr;
    }

    /** Posts requests in order (ibv_post_recv(3)). */
    synchronized void post(SoftRecvWr[] wrs) throws IOException {
        for (SoftRecvWr wr : wrs) {
            int count = wr.repeat;
            if (posted - head + count > maxWr) {
                throw new IOException("post_recv failed: ENOMEM (max_recv_wr=" + maxWr
                        + " requests are outstanding; poll the completion queue or raise it)");
            }
            runs.add(wr, posted + count);
            posted += count;
        }
        // Pairs with the acquire in SendQueue.receivesPosted: the ring entries of receives completed were read.
        Shared.setRelease(block, BlockDescriptor.POSTED, posted);
    }

    private long entry(long sequence) {
        long at = BlockDescriptor.RING + (sequence & (1L << log2Entries) - 1) * WireDescriptor.BYTES;
        // Pairs with the release in SendQueue.publish: the payload is there.
        return Shared.getAcquire(block, at);
    }

    /** How many messages ever came, counted up to {@code limit}; under the completion queue's lock. */
    long received(long limit) {
        return head >= limit ? head : head + pendingCompletions((int) Math.min(limit - head, 1 << log2Entries));
    }

    /** How many completions wait, counted up to {@code limit}. */
    int pendingCompletions(int limit) {
        int n = 0;
        while (n < limit && n < 1 << log2Entries && WireDescriptor.isNew(entry(head + n), head + n, log2Entries)) {
            n++;
        }
        return n;
    }

    /**
     * Makes completions of the messages that came; after an error of the queue pair, and once those are through, of the
     * receives that are left.
     *
     * @return the index behind the last completion
     */
    int poll(IbvWC[] wcs, int at, int max, int qpNum) {
        // Before the ring: whatever was published before the error is seen below.
        boolean error = qp.isError();
        int index = at;
        while (index < max && !flushing) {
            long sequence = head;
            long descriptor = entry(sequence);
            if (!WireDescriptor.isNew(descriptor, sequence, log2Entries)) {
                break;
            }
            if (!receive(wcs[index], descriptor, sequence, qpNum)) {
                qp.fail();
                error = true;
                flushing = true;
                break;
            }
            index++;
        }
        return error && index < max ? flush(wcs, index, max, qpNum) : index;
    }

    private int flush(IbvWC[] wcs, int at, int max, int qpNum) {
        flushing = true;
        int index = at;
        synchronized (this) {
            while (index < max && head < posted) {
                runs.advance(head);
                Completions.set(
                        wcs[index++], runs.wrId(), Completions.WR_FLUSH_ERR, Completions.OP_RECV, 0, 0, 0, qpNum);
                head++;
            }
        }
        return index;
    }

    /** Completes one receive; false if the descriptor is nonsense. */
    private boolean receive(IbvWC wc, long descriptor, long sequence, int qpNum) {
        int opcode = WireDescriptor.opcode(descriptor);
        int length = WireDescriptor.length(descriptor);
        if (sequence >= posted || opcode < WireDescriptor.WRITE_IMM || opcode > WireDescriptor.SEND_IMM) {
            return false;
        }
        boolean write = opcode == WireDescriptor.WRITE_IMM;
        boolean immediate = opcode != WireDescriptor.SEND;
        int status = Completions.SUCCESS;
        long wrId;
        synchronized (this) {
            runs.advance(sequence);
            wrId = runs.wrId();
            if (!write) {
                if (length > BlockDescriptor.SEND_AREA_BYTES) {
                    return false;
                }
                status = scatter(length);
            }
        }
        Completions.set(
                wc,
                wrId,
                status,
                write ? Completions.OP_RECV_RDMA_WITH_IMM : Completions.OP_RECV,
                length,
                immediate ? WireDescriptor.immediate(descriptor) : 0,
                immediate ? Completions.WITH_IMM : 0,
                qpNum);
        head = sequence + 1;
        if (status != Completions.SUCCESS) {
            qp.fail();
            flushing = true;
        }
        return true;
    }

    /** Copies a SEND's payload to the receive's elements and frees it in the send area. */
    private int scatter(int length) {
        int done = 0;
        for (int i = 0; i < runs.sgeCount() && done < length; i++) {
            int n = Math.min(length - done, runs.length(i));
            SoftMr mr = qp.pd().find(runs.lkey(i));
            long address = runs.address(i);
            if (mr == null || !mr.contains(address, n) || !mr.allows(IbvMr.IBV_ACCESS_LOCAL_WRITE)) {
                return Completions.LOC_PROT_ERR;
            }
            copyOut(mr.memory(), address - mr.getAddr(), (int) (areaHead + done), n);
            done += n;
        }
        areaHead += (length + 7) & ~7;
        // Pairs with the acquire in SendQueue.areaHasRoom: the bytes were read.
        Shared.setRelease(block, BlockDescriptor.CONSUMED, areaHead);
        return done < length ? Completions.LOC_LEN_ERR : Completions.SUCCESS;
    }

    private void copyOut(MemorySegment target, long offset, int position, int length) {
        int at = position & BlockDescriptor.SEND_AREA_BYTES - 1;
        int first = Math.min(length, BlockDescriptor.SEND_AREA_BYTES - at);
        MemorySegment.copy(block, sendArea + at, target, offset, first);
        MemorySegment.copy(block, sendArea, target, offset + first, length - first);
    }
}
