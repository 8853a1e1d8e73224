package io.verbena.rdma.cm;

import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.verbena.rdma.sys.Epoll;
import io.verbena.rdma.sys.EventFd;
import io.verbena.rdma.sys.Linux;
import io.verbena.rdma.verbs.VerbsBackend;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/**
 * The control thread: CM events, time-outs, and descriptors of connections that the program has not seen yet. One
 * daemon a process; never on the path of a message.
 *
 * <p>{@link #execute}, {@link #bind}, {@link #unbind} and {@link #channel} are thread-safe; {@link #schedule},
 * {@link #watch} and {@link #unwatch} belong to the control thread. Handlers run on it and must not block.
 */
public final class ControlLoop {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.cm");

    /** A time-out; see {@link #schedule}. */
    public static final class Timer implements Comparable<Timer> {
        private final long deadlineNs;
        private final Runnable action;
        private boolean cancelled;

        private Timer(long deadlineNs, Runnable action) {
            this.deadlineNs = deadlineNs;
            this.action = action;
        }

        /** Keeps the action from running. On the control thread. */
        public void cancel() {
            cancelled = true;
        }

        @Override
        public int compareTo(Timer other) {
            return Long.signum(deadlineNs - other.deadlineNs);
        }
    }

    private final RdmaEventChannel channel;
    private final Epoll epoll;
    private final EventFd wakeUp;
    private final Thread thread;
    private final ConcurrentHashMap<RdmaCmId, Consumer<CmMessage>> handlers = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Integer, Runnable> watched = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final PriorityQueue<Timer> timers = new PriorityQueue<>();

    /**
     * Opens an event channel of the backend and starts the thread.
     *
     * @throws IOException if descriptors can't be had; nothing is left open then
     */
    public ControlLoop(VerbsBackend backend) throws IOException {
        channel = backend.createEventChannel();
        Epoll set = null;
        EventFd event = null;
        try {
            set = new Epoll();
            event = new EventFd();
            set.add(channel.getFd(), Linux.EPOLLIN);
            set.add(event.fd(), Linux.EPOLLIN);
        } catch (IOException e) {
            int unused = channel.destroyEventChannel();
            closeAll(set, event);
            throw e;
        }
        epoll = set;
        wakeUp = event;
        thread = Thread.ofPlatform().name("verbena-control").daemon(true).unstarted(this::run);
        thread.start();
    }

    private static void closeAll(Epoll set, EventFd event) {
        if (set != null) {
            set.close();
        }
        if (event != null) {
            event.close();
        }
    }

    /** The event channel that this thread reads: ids made on it deliver their events here. */
    public RdmaEventChannel channel() {
        return channel;
    }

    /** Sends an id's events to a handler, which runs on the control thread. For a listening id: its CONNECT_REQUESTs. */
    public void bind(RdmaCmId id, Consumer<CmMessage> handler) {
        handlers.put(id, handler);
    }

    /** Forgets an id. */
    public void unbind(RdmaCmId id) {
        handlers.remove(id);
    }

    /** Runs a task on the control thread soon; at once if the caller is the control thread. */
    public void execute(Runnable task) {
        if (Thread.currentThread().equals(thread)) {
            guarded(task);
            return;
        }
        tasks.add(task);
        wakeUp.signal();
    }

    /** Runs an action after a delay, in nanoseconds, before any CM event that is read later. On the control thread. */
    public Timer schedule(long delayNs, Runnable action) {
        Timer timer = new Timer(System.nanoTime() + delayNs, action);
        timers.add(timer);
        return timer;
    }

    /**
     * Runs an action whenever a descriptor is readable. On the control thread.
     *
     * @throws IOException if epoll refuses
     */
    public void watch(int fd, Runnable action) throws IOException {
        watched.put(fd, action);
        epoll.add(fd, Linux.EPOLLIN);
    }

    /** Ends {@link #watch}; the descriptor is still open. On the control thread. */
    public void unwatch(int fd) {
        if (watched.remove(fd) != null) {
            epoll.remove(fd);
        }
    }

    private void run() {
        while (true) {
            try {
                turn();
            } catch (IOException e) {
                LOG.log(Level.ERROR, "the control thread can't wait for events", e);
                return;
            }
        }
    }

    private void turn() throws IOException {
        int n = epoll.await(timeoutMs());
        runTimers();
        for (int i = 0; i < n; i++) {
            int fd = epoll.fd(i);
            if (fd == wakeUp.fd()) {
                wakeUp.drain();
            } else if (fd == channel.getFd()) {
                readEvents();
            } else {
                Runnable action = watched.get(fd);
                if (action != null) {
                    guarded(action);
                }
            }
        }
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            guarded(task);
        }
    }

    private int timeoutMs() {
        while (!timers.isEmpty() && timers.peek().cancelled) {
            timers.remove();
        }
        if (timers.isEmpty()) {
            return -1;
        }
        long leftNs = timers.peek().deadlineNs - System.nanoTime();
        return Math.clamp((leftNs + 999_999) / 1_000_000, 0, 60_000);
    }

    private void runTimers() {
        while (!timers.isEmpty() && timers.peek().deadlineNs - System.nanoTime() <= 0) {
            Timer timer = timers.remove();
            if (!timer.cancelled) {
                guarded(timer.action);
            }
        }
    }

    private void readEvents() throws IOException {
        RdmaCmEvent event = channel.getCmEvent(0);
        while (event != null) {
            CmMessage message = CmMessage.take(event);
            RdmaCmId key = message.listenId() != null ? message.listenId() : message.id();
            Consumer<CmMessage> handler = handlers.get(key);
            if (handler != null) {
                guarded(() -> handler.accept(message));
            } else if (message.listenId() != null) {
                destroyQuietly(message.id()); // the listener is gone
            }
            runTimers();
            event = channel.getCmEvent(0);
        }
    }

    private static void destroyQuietly(RdmaCmId id) {
        try {
            int unused = id.destroyId();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "rdma_destroy_id failed", e);
        }
    }

    private static void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "a task of the control thread failed", e);
        }
    }
}
