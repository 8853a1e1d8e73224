package io.verbena.rdma.completion;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.EventFd;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;

/**
 * One sleeping thread's place: an entry of {@link Waiters}' list, and the eventfd that wakes it while it leads. Pooled,
 * so that going to sleep allocates nothing; the fields are guarded by the lock of the Waiters that it is listed in.
 */
final class Sleeper {
    private static final int POOL_LIMIT = 16;
    private static final int POLLFD_BYTES = 8;
    private static final ArrayDeque<Sleeper> POOL = new ArrayDeque<>(POOL_LIMIT);

    /** {@code struct pollfd[2]} and a {@code struct timespec} behind it. */
    private final MemorySegment poll = Arena.ofAuto().allocate(2L * POLLFD_BYTES + 16, 8);

    private final MemorySegment timespec = poll.asSlice(2L * POLLFD_BYTES);

    /** Made for the first platform thread: a virtual one is unparked. */
    private EventFd wakeUp;

    Sleeper next;
    Thread thread;
    int ops;
    boolean leads;
    /** Whether the eventfd was written. */
    private boolean signalled;
    /** Set once by whoever wakes; ends the wait. */
    volatile boolean woken;
    /** Set with {@link #leads} when a parked sleeper becomes the leader. */
    volatile boolean promoted;
    /** Set by the poller of virtual threads: the descriptor fired. */
    volatile boolean fired;

    private Sleeper() {
        poll.set(JAVA_SHORT, 4, (short) Linux.POLLIN);
    }

    private void makeWakeUp() throws IOException {
        wakeUp = new EventFd();
        poll.set(JAVA_INT, POLLFD_BYTES, wakeUp.fd());
        poll.set(JAVA_SHORT, POLLFD_BYTES + 4, (short) Linux.POLLIN);
    }

    static Sleeper take(int ops) throws IOException {
        Sleeper s;
        synchronized (POOL) {
            s = POOL.pollFirst();
        }
        if (s == null) {
            s = new Sleeper();
        }
        s.thread = Thread.currentThread();
        if (s.wakeUp == null && !s.thread.isVirtual()) {
            s.makeWakeUp();
        }
        s.ops = ops;
        s.leads = false;
        s.woken = false;
        s.promoted = false;
        s.fired = false;
        return s;
    }

    /** Gives the place back. It must be off the list; nobody can signal it any more. */
    void release() {
        if (signalled) {
            signalled = false;
            wakeUp.drain();
        }
        thread = null;
        synchronized (POOL) {
            if (POOL.size() < POOL_LIMIT) {
                POOL.addFirst(this);
                return;
            }
        }
        if (wakeUp != null) {
            wakeUp.close();
        }
    }

    /** Wakes the thread, wherever it sleeps. Under the lock of the Waiters. */
    void wake() {
        woken = true;
        if (leads && !thread.isVirtual()) {
            signalled = true;
            wakeUp.signal();
        } else {
            LockSupport.unpark(thread);
        }
    }

    /** Makes a parked sleeper the leader. Under the lock of the Waiters. */
    void promote() {
        leads = true;
        promoted = true;
        LockSupport.unpark(thread);
    }

    /**
     * Sleeps as the leader of a platform thread until the descriptor is readable, {@link #wake}, or the time is over.
     *
     * @return whether the descriptor fired
     */
    boolean sleepOn(int fd, long timeoutNs) throws IOException {
        poll.set(JAVA_INT, 0, fd);
        MemorySegment timeout = MemorySegment.NULL;
        if (timeoutNs != Long.MAX_VALUE) {
            timespec.set(JAVA_LONG, 0, timeoutNs / 1_000_000_000L);
            timespec.set(JAVA_LONG, 8, timeoutNs % 1_000_000_000L);
            timeout = timespec;
        }
        poll.set(JAVA_INT, 4, Linux.POLLIN); // events, and revents cleared
        poll.set(JAVA_INT, POLLFD_BYTES + 4, Linux.POLLIN);
        int n = Linux.ppoll(poll, 2, timeout, MemorySegment.NULL);
        if (n < 0 && n != -Errno.EINTR) {
            Errno.check(n, "ppoll(" + fd + ")");
        }
        return n > 0 && poll.get(JAVA_SHORT, 6) != 0;
    }

    /** Sleeps as a virtual thread, led by the poller, or as a follower that someone will unpark. */
    static void park(Object blocker, long timeoutNs) {
        if (timeoutNs == Long.MAX_VALUE) {
            LockSupport.park(blocker);
        } else {
            LockSupport.parkNanos(blocker, timeoutNs);
        }
    }
}
