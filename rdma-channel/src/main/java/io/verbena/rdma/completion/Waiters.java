package io.verbena.rdma.completion;

import java.io.IOException;

/**
 * The threads that sleep on one completion queue, and the listeners to be told of changes (CONCURRENCY.md).
 *
 * <p>Thread-safe. One sleeper leads: it alone waits on the completion channel; the others park until a reaper finds
 * that what they wait for is ready, or until they are promoted.
 */
public final class Waiters {
    /** What is waited for: one stream's completion queue and state. All methods are called without any lock of ours. */
    public interface Source {
        /** Reaps; returns the readiness bits as of now, all of them once nothing is to be waited for. */
        int poll();

        /** Arms the queue and reaps again; returns readiness as {@link #poll}. */
        int arm();

        /** Consumes the channel's event. */
        void consumeEvent();

        /** The channel's descriptor, open as long as a sleeper is listed. */
        int fd();

        /** Called when the last sleeper and listener is gone. */
        void unwatched();
    }

    private static final Runnable[] NONE = new Runnable[0];
    private static final long SPIN_NS = SpinBudget.configuredNs();

    private final Object lock = new Object();
    private final Source source;
    private final SpinBudget spin = new SpinBudget(SPIN_NS);

    private Sleeper first;
    private boolean led;
    private Runnable[] listeners = NONE;
    /** Sleepers and listeners; read without the lock by reapers after they changed the state. */
    private volatile int count;

    /** Waiters on a source. */
    public Waiters(Source source) {
        this.source = source;
    }

    /** Whether anyone has to be told of a change. */
    public boolean any() {
        return count != 0;
    }

    /**
     * Waits until one of {@code ops} is ready, {@link #wakeAll}, or the time is over; spins first.
     *
     * @param ops readiness bits
     * @param timeoutNs nanoseconds, {@link Long#MAX_VALUE} waits for ever
     * @throws IOException if the descriptor for waking can't be had (limit of open files) or polled
     */
    public void await(int ops, long timeoutNs) throws IOException {
        if (spin(ops, timeoutNs)) {
            return;
        }
        long startNs = System.nanoTime();
        Sleeper me = Sleeper.take(ops);
        try {
            enter(me);
            try {
                sleep(me, startNs, timeoutNs);
            } finally {
                leave(me);
            }
        } finally {
            me.release();
        }
        spin.slept(System.nanoTime() - startNs);
    }

    private boolean spin(int ops, long timeoutNs) {
        long budgetNs = spin.begin();
        if (budgetNs == 0) {
            return (source.poll() & ops) != 0;
        }
        budgetNs = Math.min(budgetNs, timeoutNs);
        boolean found = false;
        try {
            long startNs = System.nanoTime();
            long elapsedNs = 0;
            found = (source.poll() & ops) != 0;
            while (!found && elapsedNs < budgetNs) {
                spin.relax(elapsedNs);
                found = (source.poll() & ops) != 0;
                elapsedNs = System.nanoTime() - startNs;
            }
        } finally {
            spin.end(found);
        }
        return found;
    }

    private void sleep(Sleeper me, long startNs, long timeoutNs) throws IOException {
        long leftNs = timeoutNs;
        while (leftNs > 0 && !me.woken) {
            boolean lead = claimLead(me);
            int ready = lead ? source.arm() : source.poll();
            if ((ready & me.ops) != 0) {
                return;
            }
            if (!me.woken) {
                sleepOnce(me, lead, leftNs);
            }
            if ((source.poll() & me.ops) != 0) {
                return; // before arming again, for which the peer would pay with a wake-up
            }
            leftNs = timeoutNs == Long.MAX_VALUE ? timeoutNs : timeoutNs - (System.nanoTime() - startNs);
        }
    }

    private void sleepOnce(Sleeper me, boolean lead, long leftNs) throws IOException {
        if (!lead) {
            if (!me.promoted) {
                Sleeper.park(this, leftNs);
            }
            return;
        }
        boolean fired = me.thread.isVirtual()
                ? VirtualThreadPoller.await(source.fd(), me, leftNs)
                : me.sleepOn(source.fd(), leftNs);
        if (fired) {
            source.consumeEvent();
        }
    }

    private boolean claimLead(Sleeper me) {
        synchronized (lock) {
            if (!led) {
                led = true;
                me.leads = true;
            }
            return me.leads;
        }
    }

    private void enter(Sleeper me) {
        synchronized (lock) {
            me.next = first;
            first = me;
            count++;
        }
    }

    private void leave(Sleeper me) {
        boolean last;
        synchronized (lock) {
            unlink(me);
            if (me.leads) {
                led = first != null;
                if (led) {
                    first.promote();
                }
            }
            last = --count == 0;
        }
        if (last) {
            source.unwatched();
        }
    }

    private void unlink(Sleeper me) {
        if (first == me) {
            first = me.next;
        } else {
            Sleeper s = first;
            while (s.next != me) {
                s = s.next;
            }
            s.next = me.next;
        }
        me.next = null;
    }

    /**
     * Tells of a change: wakes the sleepers whose operations are ready, and every listener. Called by the thread that
     * reaped, after it published the new state.
     *
     * @param ready readiness bits as of now
     */
    public void changed(int ready) {
        if (count == 0) {
            return;
        }
        synchronized (lock) {
            Thread self = Thread.currentThread();
            for (Sleeper s = first; s != null; s = s.next) {
                if ((s.ops & ready) != 0 && !s.woken && !s.thread.equals(self)) {
                    s.wake();
                }
            }
            for (Runnable listener : listeners) {
                listener.run();
            }
        }
    }

    /** Ends every {@link #await} under way and tells every listener. */
    public void wakeAll() {
        changed(-1);
    }

    /** Adds a listener; it must not block. It is called with a lock held. */
    public void addListener(Runnable listener) {
        synchronized (lock) {
            listeners = java.util.Arrays.copyOf(listeners, listeners.length + 1);
            listeners[listeners.length - 1] = listener;
            count++;
        }
    }

    /** Removes a listener added before; nothing happens if it is not there. */
    public void removeListener(Runnable listener) {
        boolean last = false;
        synchronized (lock) {
            for (int i = 0; i < listeners.length; i++) {
                if (listeners[i].equals(listener)) {
                    listeners = without(i);
                    last = --count == 0;
                    break;
                }
            }
        }
        if (last) {
            source.unwatched();
        }
    }

    private Runnable[] without(int i) {
        Runnable[] rest = new Runnable[listeners.length - 1];
        System.arraycopy(listeners, 0, rest, 0, i);
        System.arraycopy(listeners, i + 1, rest, i, rest.length - i);
        return rest;
    }
}
