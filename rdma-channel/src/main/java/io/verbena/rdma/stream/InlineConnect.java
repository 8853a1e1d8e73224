package io.verbena.rdma.stream;

import io.verbena.rdma.cm.CmMessage;
import io.verbena.rdma.cm.ControlLoop;
import io.verbena.rdma.cm.PrivateChannel;
import io.verbena.rdma.verbs.VerbsBackend;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connect that runs on the thread that waits for it, so that no hand-over to another thread delays it. Once it is
 * done, its id's events go to the control thread.
 */
final class InlineConnect implements PendingConnect {
    /** Held by the driver; the fields below are guarded by it unless they say otherwise. */
    private final ReentrantLock driving = new ReentrantLock();

    private final VerbsBackend backend;
    private final ConnectAttempt attempt;
    private final long deadlineNs = System.nanoTime() + StreamSettings.CONNECT_TIMEOUT_MS * 1_000_000L;

    /** Guarded by this as well for {@link #wake}; null when not begun and when done. */
    private PrivateChannel events;

    private boolean begun;
    private volatile boolean cancelled;
    private volatile boolean done;

    private InlineConnect(VerbsBackend backend, ConnectAttempt attempt) {
        this.backend = backend;
        this.attempt = attempt;
    }

    static PendingConnect start(
            VerbsBackend backend,
            ControlLoop loop,
            InetSocketAddress local,
            InetSocketAddress remote,
            int ringBytesLog2) {
        return new InlineConnect(backend, new ConnectAttempt(loop, local, remote, ringBytesLog2));
    }

    @Override
    public boolean isDone() {
        return done;
    }

    @Override
    public boolean await(long timeout, TimeUnit unit) {
        long untilNs = timeout > 0 ? System.nanoTime() + unit.toNanos(timeout) : Long.MAX_VALUE;
        driving.lock();
        try {
            while (!done && !cancelled && leftNs(untilNs) > 0) {
                drive(Math.min(leftNs(untilNs), Math.max(0, deadlineNs - System.nanoTime())));
            }
            return done;
        } finally {
            driving.unlock();
        }
    }

    private static long leftNs(long untilNs) {
        return untilNs == Long.MAX_VALUE ? untilNs : untilNs - System.nanoTime();
    }

    private void drive(long waitNs) {
        try {
            if (!begun) {
                begun = true;
                PrivateChannel channel = PrivateChannel.take(backend);
                synchronized (this) {
                    events = channel;
                }
                attempt.begin(channel.channel(), attempt::onEvent);
            } else {
                step(waitNs);
            }
        } catch (IOException e) {
            attempt.fail(Reason.NO_RESOURCES, e);
        }
        finishIfDone();
    }

    private void step(long waitNs) throws IOException {
        CmMessage message = events.next((int) ((waitNs + 999_999) / 1_000_000));
        if (message != null) {
            attempt.onEvent(message);
        } else if (System.nanoTime() - deadlineNs >= 0) {
            attempt.fail(Reason.TIMEOUT, null);
        }
    }

    private void finishIfDone() {
        if (!attempt.isDone() || done) {
            return;
        }
        PrivateChannel channel;
        synchronized (this) {
            channel = events;
            events = null;
        }
        if (channel != null) {
            channel.release();
        }
        done = true;
    }

    @Override
    public RdmaStream stream() {
        return done ? attempt.stream() : null;
    }

    @Override
    public Reason failure() {
        return done ? attempt.failure() : null;
    }

    @Override
    public int fd() {
        return -1;
    }

    @Override
    public void cancel() {
        cancelled = true;
        wake();
        driving.lock();
        try {
            if (!done) {
                attempt.fail(Reason.CANCELLED, null);
                finishIfDone();
            }
        } finally {
            driving.unlock();
        }
        VerbsStream made = attempt.stream();
        if (made != null) {
            made.close(true);
        }
    }

    private synchronized void wake() {
        if (events != null) {
            events.wake();
        }
    }

    @Override
    public void release() {
        // nothing is held once it is done
    }
}
