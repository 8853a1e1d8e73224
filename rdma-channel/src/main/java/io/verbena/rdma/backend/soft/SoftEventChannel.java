package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.verbena.rdma.sys.Epoll;
import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.EventFd;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An event channel: an epoll set of the sockets of its ids, and a queue of events with an eventfd that is readable while
 * the queue has any. Its descriptor is the epoll set's.
 *
 * <p>Sockets are read only in {@link #getCmEvent}, so a connection is completed by the call that gives its event away.
 * Thread-safe, but {@link #getCmEvent} is meant for one thread: others wait until it returns.
 */
final class SoftEventChannel extends RdmaEventChannel {
    /** Who handles a socket's readiness. */
    interface Source {
        /** Called by the thread in {@link #getCmEvent}; must not block. */
        void ready(int events);
    }

    private static final int MAX_LINGERING = 256;

    private final Epoll epoll;
    private final EventFd queued;
    private final Map<Integer, Source> sources = new ConcurrentHashMap<>();
    /** Guarded by itself. */
    private final ArrayDeque<SoftCmEvent> events = new ArrayDeque<>();

    /** Oldest first; guarded by itself. */
    private final LinkedHashSet<Lingering> lingering = new LinkedHashSet<>();

    private final Object waitLock = new Object();

    private SoftEventChannel(Epoll epoll, EventFd queued) throws IOException {
        super(epoll.fd());
        this.epoll = epoll;
        this.queued = queued;
        this.isOpen = true;
    }

    static SoftEventChannel create() throws IOException {
        Epoll epoll = new Epoll();
        EventFd queued = null;
        try {
            queued = new EventFd();
            epoll.add(queued.fd(), Linux.EPOLLIN);
            return new SoftEventChannel(epoll, queued);
        } catch (IOException e) {
            epoll.close();
            if (queued != null) {
                queued.close();
            }
            throw e;
        }
    }

    // --- sockets ---------------------------------------------------------------------------------------------------

    void register(int fd, int mask, Source source) throws IOException {
        Source unused = sources.put(fd, source);
        try {
            epoll.add(fd, mask);
        } catch (IOException e) {
            unused = sources.remove(fd);
            throw e;
        }
    }

    void setMask(int fd, int mask) throws IOException {
        epoll.modify(fd, mask);
    }

    /** Ends {@link #register}, unless the descriptor is another source's by now: a late event must not end that. */
    void unregister(int fd, Source source) {
        if (sources.remove(fd, source)) {
            epoll.remove(fd);
        }
    }

    /** A destroyed id's connection waits for its peer's end; only so many may: the oldest is given up. */
    void lingers(Lingering one) {
        Lingering oldest = null;
        synchronized (lingering) {
            boolean added = lingering.add(one);
            assert added;
            if (lingering.size() > MAX_LINGERING) {
                oldest = lingering.removeFirst();
            }
        }
        if (oldest != null) {
            oldest.abandon();
        }
    }

    void lingersNoMore(Lingering one) {
        synchronized (lingering) {
            boolean unused = lingering.remove(one);
        }
    }

    // --- events ----------------------------------------------------------------------------------------------------

    void post(SoftCmEvent event) {
        synchronized (events) {
            events.add(event);
            queued.signal();
        }
    }

    /** Drops the events of an id that is destroyed. */
    void dropEvents(SoftCmId id) {
        synchronized (events) {
            boolean unused = events.removeIf(e -> e.isFor(id));
            drainIfEmpty();
        }
    }

    /** Moves the events of an id to another channel. */
    void moveEvents(SoftCmId id, SoftEventChannel target) {
        synchronized (events) {
            for (SoftCmEvent event : events.toArray(new SoftCmEvent[0])) {
                if (event.isFor(id)) {
                    boolean removed = events.remove(event);
                    assert removed;
                    target.post(event);
                }
            }
            drainIfEmpty();
        }
    }

    private SoftCmEvent take() {
        synchronized (events) {
            SoftCmEvent event = events.poll();
            drainIfEmpty();
            return event;
        }
    }

    private void drainIfEmpty() {
        if (events.isEmpty()) {
            queued.drain();
        }
    }

    /**
     * Waits for an event (rdma_get_cm_event(3)).
     *
     * @param timeoutMs milliseconds, 0 returns at once, -1 waits for ever
     * @return the event, or null when the time is over
     */
    @Override
    public RdmaCmEvent getCmEvent(int timeoutMs) throws IOException {
        long deadlineNs = System.nanoTime() + timeoutMs * 1_000_000L;
        synchronized (waitLock) {
            while (true) {
                SoftCmEvent event = take();
                if (event != null) {
                    return event;
                }
                long restNs = Math.max(0, deadlineNs - System.nanoTime());
                int n = epoll.await(timeoutMs < 0 ? -1 : (int) ((restNs + 999_999) / 1_000_000));
                handle(n);
                if (timeoutMs >= 0 && System.nanoTime() - deadlineNs >= 0) {
                    return take();
                }
            }
        }
    }

    private void handle(int n) {
        for (int i = 0; i < n; i++) {
            Source source = sources.get(epoll.fd(i));
            if (source != null) {
                source.ready(epoll.events(i));
            }
        }
    }

    @Override
    public RdmaCmId createId(short portSpace) throws IOException {
        if (portSpace != RdmaCm.RDMA_PS_TCP) {
            throw new IOException("rdma_create_id failed: " + Errno.name(Errno.EOPNOTSUPP)
                    + " (the soft device has RDMA_PS_TCP only)");
        }
        return new SoftCmId(this, portSpace);
    }

    private void abandonLingering() {
        List<Lingering> all;
        synchronized (lingering) {
            all = List.copyOf(lingering);
            lingering.clear();
        }
        all.forEach(Lingering::abandon);
    }

    /** Closes the channel; its ids must have been destroyed. Memory that waits for a peer's end is given up. */
    @Override
    public int destroyEventChannel() {
        synchronized (waitLock) {
            if (isOpen) {
                isOpen = false;
                abandonLingering();
                queued.close();
                epoll.close();
            }
        }
        return 0;
    }
}
