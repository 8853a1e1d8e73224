package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A completion queue (ibv_create_cq(3)).
 *
 * <p>As thread-safe as the library; {@link #destroyCQ} is for whoever knows that no other call is under way, and may be
 * called again. Events that the caller has not acked are acked by it, or it would wait for ever.
 */
final class ForeignCq extends IbvCQ {
    private static final Struct CQ = VerbsDescriptor.CQ;

    private final long cq;
    private final ForeignContext device;
    private final ForeignCompChannel eventChannel;

    /** Events read by whoever asked for another queue's. */
    private final AtomicInteger pending = new AtomicInteger();

    /** Events read and not acked, the pending ones included. */
    private final AtomicInteger unacked = new AtomicInteger();

    private ForeignCq(long cq, MemorySegment struct, ForeignContext device, ForeignCompChannel channel)
            throws IOException {
        super(device, channel, struct.get(JAVA_INT, CQ.offset("handle")));
        this.cq = cq;
        this.device = device;
        this.eventChannel = channel;
        this.cqe = struct.get(JAVA_INT, CQ.offset("cqe"));
    }

    /** Makes a queue; without a channel it has no events. */
    static ForeignCq create(ForeignContext device, ForeignCompChannel channel, int entries, int vector)
            throws IOException {
        long channelHandle = channel == null ? 0 : channel.handle();
        long cq = VerbsCalls.createCq(device.handle(), entries, channelHandle, vector);
        Downcalls.check(
                cq,
                "ibv_create_cq",
                device,
                "cqe=" + entries + " (max_cqe=" + device.maxCqe() + ")",
                "max_cq=" + device.limits().maxCq());
        var queue = new ForeignCq(cq, CQ.at(cq), device, channel);
        if (channel != null) {
            channel.add(cq, queue);
        }
        return queue;
    }

    long handle() throws IOException {
        if (!isOpen) {
            throw new IOException("the completion queue is destroyed");
        }
        return cq;
    }

    ForeignContext device() {
        return device;
    }

    void addPending() {
        unacked.incrementAndGet();
        pending.incrementAndGet();
    }

    boolean takePending() {
        int n = pending.get();
        while (n > 0) {
            if (pending.compareAndSet(n, n - 1)) {
                return true;
            }
            n = pending.get();
        }
        return false;
    }

    @Override
    public SVCPollCq poll(IbvWC[] completions, int count) throws IOException {
        return new ForeignPollCq(this, completions, count);
    }

    @Override
    public SVCReqNotify reqNotification(boolean solicitedOnly) throws IOException {
        return new ForeignReqNotify(this, solicitedOnly);
    }

    @Override
    public int ackEvents(int count) throws IOException {
        long queue = handle();
        int left = unacked.addAndGet(-count);
        if (left < 0) {
            unacked.addAndGet(count);
            throw new IOException("ibv_ack_cq_events(" + count + "): only " + (left + count) + " events are unacked");
        }
        VerbsCalls.ackCqEvents(queue, count);
        return 0;
    }

    @Override
    public synchronized int destroyCQ() throws IOException {
        if (!isOpen) {
            return 0;
        }
        int left = unacked.getAndSet(0);
        if (left > 0) {
            VerbsCalls.ackCqEvents(cq, left);
        }
        Downcalls.check(VerbsCalls.destroyCq(cq), "ibv_destroy_cq", device);
        isOpen = false;
        if (eventChannel != null) {
            eventChannel.remove(cq);
        }
        return 0;
    }
}
