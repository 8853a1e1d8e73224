package io.verbena.spi;

import io.verbena.rdma.sys.Epoll;
import io.verbena.rdma.sys.EventFd;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * Sleeps on a JDK selector, on an epoll set, or on both at once, until something is ready or another thread
 * {@linkplain #kick kicks}.
 *
 * <p>{@link #kick} is any thread's; everything else belongs to one thread at a time. No kick is lost: the sleeper
 * publishes that it is about to sleep and then looks whether there is work; the kicker publishes the work and then looks
 * whether somebody sleeps (both volatile).
 */
final class Sleeper implements AutoCloseable {
    private static final int AWAKE = 0;
    private static final int IN_SELECTOR = 1;
    private static final int IN_EPOLL = 2;
    private static final int CLOSED = 3;

    private final Selector inner;
    private final Consumer<SelectionKey> onKey;
    private final IntConsumer onFd;
    private final BooleanSupplier hasWork;

    private Epoll epoll;
    private EventFd wake;
    private Bridge bridge;

    /** Held while signalling, and to close: so nobody signals on a descriptor that is closed. */
    private final Object kickLock = new Object();

    private final AtomicInteger state = new AtomicInteger(AWAKE);

    /**
     * Opens the JDK selector; the epoll set comes with its first use.
     *
     * @param onKey gets each ready key of the JDK selector
     * @param onFd gets each readable descriptor of the epoll set
     * @param hasWork whether there is no time to sleep
     */
    Sleeper(Consumer<SelectionKey> onKey, IntConsumer onFd, BooleanSupplier hasWork) throws IOException {
        this.onKey = onKey;
        this.onFd = onFd;
        this.hasWork = hasWork;
        inner = JdkProvider.get().openSelector();
    }

    Selector inner() {
        return inner;
    }

    /** The epoll set, made by the first call. */
    Epoll epoll() throws IOException {
        if (epoll == null) {
            Epoll made = new Epoll();
            try {
                wake = new EventFd();
                made.add(wake.fd(), Linux.EPOLLIN);
            } catch (IOException e) {
                made.close();
                throw e;
            }
            epoll = made;
        }
        return epoll;
    }

    /** The epoll set if there is one, else null. */
    Epoll epollIfAny() {
        return epoll;
    }

    /** Ends the sleep under way, if any. */
    void kick() {
        int seen = state.get();
        if (seen == AWAKE || seen == CLOSED) {
            return;
        }
        synchronized (kickLock) {
            // fails if the sleeper woke: it looks for work before it sleeps again, maybe in another place
            if (state.compareAndSet(seen, AWAKE)) {
                if (seen == IN_SELECTOR) {
                    inner.wakeup();
                } else {
                    wake.signal();
                }
            }
        }
    }

    /**
     * Sleeps and reports what is ready. May return early.
     *
     * @param timeoutMs milliseconds, 0 does not sleep, -1 for ever
     * @param useInner whether the JDK selector has keys that count
     * @param useEpoll whether the epoll set has descriptors that count
     */
    void sleep(long timeoutMs, boolean useInner, boolean useEpoll) throws IOException {
        boolean throughInner = useInner
                || !useEpoll
                || timeoutMs != 0 && Thread.currentThread().isVirtual();
        if (throughInner && useEpoll && timeoutMs != 0 && bridge == null) {
            bridge = new Bridge(inner, epoll().fd());
        }
        if (timeoutMs == 0) {
            look(0, throughInner, useEpoll);
            return;
        }
        state.set(throughInner ? IN_SELECTOR : IN_EPOLL);
        try {
            look(hasWork.getAsBoolean() ? 0 : timeoutMs, throughInner, useEpoll);
        } finally {
            state.setRelease(AWAKE); // a kick under way may still come: the next sleep is then short
        }
    }

    private void look(long timeoutMs, boolean throughInner, boolean useEpoll) throws IOException {
        if (throughInner) {
            select(timeoutMs);
        }
        if (useEpoll) {
            drain(throughInner ? 0 : timeoutMs);
        }
    }

    private void select(long timeoutMs) throws IOException {
        if (timeoutMs == 0) {
            inner.selectNow(onKey);
        } else {
            inner.select(onKey, Math.max(timeoutMs, 0));
        }
    }

    private void drain(long timeoutMs) throws IOException {
        int n = epoll.await((int) Math.min(timeoutMs, Integer.MAX_VALUE));
        for (int i = 0; i < n; i++) {
            int fd = epoll.fd(i);
            if (fd == wake.fd()) {
                wake.drain();
            } else {
                onFd.accept(fd);
            }
        }
    }

    /** Lets the JDK selector let go of cancelled keys, and close what waits for that. */
    void flushInner() throws IOException {
        inner.selectNow(key -> {});
    }

    /** Closes all; channels of the JDK that were closed before give back their descriptors. */
    @Override
    public void close() throws IOException {
        synchronized (kickLock) {
            state.set(CLOSED);
        }
        try {
            inner.close();
            if (bridge != null) {
                bridge.close();
            }
        } finally {
            if (epoll != null) {
                epoll.close();
                wake.close();
            }
        }
    }
}
