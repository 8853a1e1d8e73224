package io.verbena.spi;

import io.verbena.rdma.stream.PendingConnect;
import io.verbena.rdma.stream.RdmaStream;
import io.verbena.rdma.stream.Reason;
import io.verbena.rdma.stream.StreamFabric;
import io.verbena.rdma.stream.StreamListener;
import io.verbena.rdma.sys.EventFd;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A fabric whose connects end when the test says so, and never in a stream. It listens nowhere. */
final class FakeFabric implements StreamFabric {
    private final BlockingQueue<Connect> connects = new LinkedBlockingQueue<>();

    RdmaSelectorProvider provider() {
        return new RdmaSelectorProvider(Config.of(Config.Mode.AUTO), () -> this);
    }

    /** The next connect that was begun. */
    Connect next() throws InterruptedException {
        Connect connect = connects.poll(Wait.SECONDS, TimeUnit.SECONDS);
        if (connect == null) {
            throw new AssertionError("no connect was begun");
        }
        return connect;
    }

    @Override
    public StreamListener listen(InetSocketAddress twin, int backlog, int ringBytes) throws IOException {
        throw new IOException("this fabric listens nowhere");
    }

    @Override
    public Reason unreachable(InetSocketAddress remote) {
        return null;
    }

    @Override
    public PendingConnect connect(InetSocketAddress local, InetSocketAddress remote, int ringBytes, boolean blocking) {
        try {
            Connect connect = new Connect(local, ringBytes, blocking ? null : new EventFd());
            connects.add(connect);
            return connect;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** A connect under way. */
    static final class Connect implements PendingConnect {
        final InetSocketAddress local;
        final int ringBytes;
        private final CountDownLatch done = new CountDownLatch(1);
        private EventFd event;
        private volatile boolean cancelled;
        private volatile boolean released;

        Connect(InetSocketAddress local, int ringBytes, EventFd event) {
            this.local = local;
            this.ringBytes = ringBytes;
            this.event = event;
        }

        /** There will be no stream. */
        synchronized void fail() {
            done.countDown();
            if (event != null) {
                event.signal();
            }
        }

        boolean isCancelled() {
            return cancelled;
        }

        boolean isReleased() {
            return released;
        }

        @Override
        public boolean isDone() {
            return done.getCount() == 0;
        }

        @Override
        public boolean await(long timeout, TimeUnit unit) {
            try {
                return done.await(timeout <= 0 ? Long.MAX_VALUE : unit.toNanos(timeout), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return isDone();
            }
        }

        @Override
        public RdmaStream stream() {
            return null;
        }

        @Override
        public Reason failure() {
            return isDone() ? Reason.REJECTED : null;
        }

        @Override
        public synchronized int fd() {
            return event == null ? -1 : event.fd();
        }

        @Override
        public void cancel() {
            cancelled = true;
            done.countDown();
            release();
        }

        @Override
        public synchronized void release() {
            released = true;
            if (event != null) {
                event.close();
                event = null;
            }
        }
    }
}
