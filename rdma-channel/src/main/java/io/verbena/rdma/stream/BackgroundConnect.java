package io.verbena.rdma.stream;

import io.verbena.rdma.cm.CmMessage;
import io.verbena.rdma.cm.ControlLoop;
import io.verbena.rdma.sys.EventFd;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A connect that the control thread drives: for non-blocking channels and virtual threads. */
final class BackgroundConnect implements PendingConnect {
    private final CountDownLatch done = new CountDownLatch(1);
    private final ControlLoop loop;
    private final ConnectAttempt attempt;

    /** On the control thread. */
    private ControlLoop.Timer timeout;

    /** Guarded by this; null once freed. */
    private EventFd event = new EventFd();

    private boolean cancelled;
    private volatile VerbsStream stream;
    private volatile Reason failure;

    private BackgroundConnect(ControlLoop loop, ConnectAttempt attempt) throws IOException {
        this.loop = loop;
        this.attempt = attempt;
    }

    static PendingConnect start(ControlLoop loop, InetSocketAddress local, InetSocketAddress remote, int ringBytesLog2)
            throws IOException {
        var attempt = new ConnectAttempt(loop, local, remote, ringBytesLog2);
        var connect = new BackgroundConnect(loop, attempt);
        loop.execute(connect::begin);
        return connect;
    }

    private void begin() {
        timeout = loop.schedule(StreamSettings.CONNECT_TIMEOUT_MS * 1_000_000L, () -> end(Reason.TIMEOUT));
        attempt.begin(loop.channel(), this::onEvent);
        finishIfDone();
    }

    private void onEvent(CmMessage message) {
        attempt.onEvent(message);
        finishIfDone();
    }

    private void end(Reason reason) {
        attempt.fail(reason, null);
        finishIfDone();
    }

    private void finishIfDone() {
        if (!attempt.isDone() || isDone()) {
            return;
        }
        timeout.cancel();
        boolean unwanted;
        synchronized (this) {
            stream = attempt.stream();
            failure = attempt.failure();
            done.countDown();
            if (event != null) {
                event.signal();
            }
            unwanted = cancelled;
        }
        if (unwanted && stream != null) {
            stream.close(true);
        }
    }

    @Override
    public boolean isDone() {
        return done.getCount() == 0;
    }

    @Override
    public boolean await(long timeout, TimeUnit unit) {
        try {
            return done.await(timeout > 0 ? unit.toNanos(timeout) : Long.MAX_VALUE, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return isDone();
        }
    }

    @Override
    public RdmaStream stream() {
        return isDone() ? stream : null;
    }

    @Override
    public Reason failure() {
        return isDone() ? failure : null;
    }

    @Override
    public synchronized int fd() {
        return event == null ? -1 : event.fd();
    }

    @Override
    public void cancel() {
        VerbsStream made;
        synchronized (this) {
            if (cancelled || event == null) {
                return;
            }
            cancelled = true;
            made = stream;
        }
        if (made != null) {
            made.close(true);
        } else if (!isDone()) {
            loop.execute(() -> end(Reason.CANCELLED));
        }
        release();
    }

    @Override
    public synchronized void release() {
        if (event != null) {
            event.close();
            event = null;
        }
    }
}
