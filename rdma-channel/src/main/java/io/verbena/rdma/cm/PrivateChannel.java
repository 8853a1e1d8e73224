package io.verbena.rdma.cm;

import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.verbena.rdma.sys.Epoll;
import io.verbena.rdma.sys.EventFd;
import io.verbena.rdma.sys.Linux;
import io.verbena.rdma.verbs.VerbsBackend;
import java.io.IOException;
import java.util.ArrayDeque;

/**
 * An event channel for a connect that runs on the connecting thread, so that no other thread has to be woken for it.
 * Pooled. {@link #next} belongs to the connecting thread; {@link #wake} is thread-safe.
 */
public final class PrivateChannel {
    private static final int POOL_LIMIT = 4;
    private static final ArrayDeque<PrivateChannel> POOL = new ArrayDeque<>(POOL_LIMIT);

    private final VerbsBackend backend;
    private final RdmaEventChannel channel;
    private final Epoll epoll;
    private final EventFd wakeUp;

    private PrivateChannel(VerbsBackend backend, Epoll epoll, EventFd wakeUp) throws IOException {
        this.backend = backend;
        this.epoll = epoll;
        this.wakeUp = wakeUp;
        this.channel = backend.createEventChannel();
    }

    /**
     * Takes a channel from the pool, or makes one.
     *
     * @throws IOException if descriptors can't be had
     */
    public static PrivateChannel take(VerbsBackend backend) throws IOException {
        synchronized (POOL) {
            PrivateChannel pooled = POOL.pollFirst();
            if (pooled != null && pooled.backend.equals(backend)) {
                return pooled;
            }
        }
        return open(backend);
    }

    private static PrivateChannel open(VerbsBackend backend) throws IOException {
        Epoll epoll = new Epoll();
        EventFd wakeUp = null;
        try {
            wakeUp = new EventFd();
            var made = new PrivateChannel(backend, epoll, wakeUp);
            epoll.add(wakeUp.fd(), Linux.EPOLLIN);
            epoll.add(made.channel.getFd(), Linux.EPOLLIN);
            return made;
        } catch (IOException e) {
            epoll.close();
            if (wakeUp != null) {
                wakeUp.close();
            }
            throw e;
        }
    }

    /** The event channel, to make the id on. */
    public RdmaEventChannel channel() {
        return channel;
    }

    /**
     * Waits for an event.
     *
     * @param timeoutMs milliseconds, not negative
     * @return the event, or null at the time-out or after {@link #wake}
     * @throws IOException if the channel fails
     */
    public CmMessage next(int timeoutMs) throws IOException {
        RdmaCmEvent event = channel.getCmEvent(0);
        if (event == null && epoll.await(timeoutMs) > 0) {
            event = channel.getCmEvent(0);
        }
        return event == null ? null : CmMessage.take(event);
    }

    /** Makes {@link #next} return. */
    public void wake() {
        wakeUp.signal();
    }

    /** Gives the channel back; no id is on it any more and nobody will call {@link #wake}. */
    public void release() {
        wakeUp.drain();
        synchronized (POOL) {
            if (POOL.size() < POOL_LIMIT) {
                POOL.addFirst(this);
                return;
            }
        }
        close();
    }

    private void close() {
        try {
            int unused = channel.destroyEventChannel();
        } catch (IOException e) {
            System.getLogger("io.verbena.rdma.cm").log(System.Logger.Level.WARNING, "event channel", e);
        }
        epoll.close();
        wakeUp.close();
    }
}
