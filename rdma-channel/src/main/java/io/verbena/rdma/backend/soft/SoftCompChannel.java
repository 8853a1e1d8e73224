package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A completion channel: a descriptor that becomes readable when an armed completion queue gets a completion. */
abstract class SoftCompChannel extends IbvCompChannel {
    SoftCompChannel(int fd, SoftContext context) throws IOException {
        super(fd, context);
        this.context = context;
        this.isOpen = true;
    }

    /** A queue pair on this connection feeds one of the channel's completion queues. */
    abstract void attach(Connection connection) throws IOException;

    abstract void detach(Connection connection);

    /** An armed completion queue got a completion made in this process. */
    abstract void fire();

    /** Takes an event if there is one; never blocks. */
    abstract boolean takeEvent(SoftCq cq) throws IOException;

    /** Takes a connection's wake-ups; -1 at its end, or if the peer wakes us for nothing: its queue pair fails then. */
    static int consume(Connection connection, SoftCq cq) {
        int taken = connection.consume(cq.arms());
        // A message comes before its wake-up, so an honest peer's wake-ups are never more than its messages.
        if (taken < 0 || (taken > 0 && !cq.hasReceived(connection, connection.wakes()))) {
            cq.peerEnded(connection);
            return -1;
        }
        return taken;
    }

    /**
     * Waits for an event and takes it (ibv_get_cq_event(3)).
     *
     * @param cq the queue that is armed
     * @param timeoutMs milliseconds, 0 returns at once, -1 waits for ever
     * @return whether there was one; an event with nothing in the queue is legal
     */
    @Override
    public final boolean getCqEvent(IbvCQ cq, int timeoutMs) throws IOException {
        SoftCq queue = (SoftCq) cq;
        long deadlineNs = System.nanoTime() + timeoutMs * 1_000_000L;
        while (true) {
            if (takeEvent(queue)) {
                queue.disarm();
                return true;
            }
            long restNs = timeoutMs < 0 ? -1 : deadlineNs - System.nanoTime();
            if (timeoutMs >= 0 && restNs <= 0) {
                return false;
            }
            await(restNs);
        }
    }

    private void await(long restNs) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment poll = arena.allocate(8, 8);
            poll.set(ValueLayout.JAVA_INT, 0, getFd());
            poll.set(ValueLayout.JAVA_INT, 4, Linux.POLLIN);
            MemorySegment timeout = MemorySegment.NULL;
            if (restNs >= 0) {
                timeout = arena.allocate(16, 8);
                timeout.set(ValueLayout.JAVA_LONG, 0, restNs / 1_000_000_000);
                timeout.set(ValueLayout.JAVA_LONG, 8, restNs % 1_000_000_000);
            }
            int unused = Linux.ppoll(poll, 1, timeout, MemorySegment.NULL);
        }
    }
}
