package io.verbena.spi;

import io.verbena.rdma.stream.ReadinessListener;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One thing that a selector polls for a key. It is <em>active</em> (polled by each selection operation) or
 * <em>armed</em> (costs nothing until its descriptor fires or another thread tells).
 *
 * <p>All but {@link #readinessChanged} belongs to the thread that holds the selector's monitor.
 */
final class PollWatch implements ReadinessListener {
    final RdmaKey key;
    final PollTarget target;
    private final RdmaSelector selector;
    private final AtomicBoolean told = new AtomicBoolean();

    /**
     * Whether this watch will be polled before the selector sleeps, so that nobody need tell. Cleared before the target
     * is armed and polled for the last time: who changes the target's state after that sees it cleared, and tells.
     */
    volatile boolean polled;

    /** The descriptor in the epoll set, -1 if none. */
    int fd = -1;

    /** Place in the active list, -1 if armed. */
    int activeIndex = -1;

    /** Selection operations in a row that found nothing. */
    int idleRounds;

    PollWatch(RdmaSelector selector, RdmaKey key, PollTarget target) {
        this.selector = selector;
        this.key = key;
        this.target = target;
    }

    /** The operations of interest that this watch can report; none of a channel that is being closed. */
    int wanted() {
        return key.isAlive() ? key.interest() & target.ops() : 0;
    }

    /** Whether the key is still watched by this. */
    boolean isAttached() {
        PollWatch current = key.watch();
        return current != null && current.equals(this);
    }

    @Override
    public void readinessChanged() {
        if (!polled && told.compareAndSet(false, true)) {
            selector.readinessChanged(this);
        }
    }

    /** From now on another change is told anew. */
    void heard() {
        told.set(false);
    }
}
