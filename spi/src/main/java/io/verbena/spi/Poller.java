package io.verbena.spi;

import io.verbena.rdma.sys.Epoll;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.util.Arrays;
import java.util.function.ObjIntConsumer;

/**
 * The streams, connects and listeners that a selector polls: the list of the active ones, and the epoll set for the
 * others.
 *
 * <p>Belongs to the thread that holds the selector's monitor. A descriptor that its owner closed leaves the epoll set
 * by itself and its number may come back for another: so only the watch that {@link #byFd} names is taken out.
 */
final class Poller {
    /** Selection operations without news after which an active watch is armed although others are busy. */
    private static final int MAX_IDLE_ROUNDS = 64;

    private final Sleeper sleeper;
    private final ObjIntConsumer<RdmaKey> onReady;

    private PollWatch[] active = new PollWatch[16];
    private int activeCount;
    private PollWatch[] byFd = new PollWatch[64];
    private int inEpoll;

    /** Reports operations of interest that are ready to {@code onReady}. */
    Poller(Sleeper sleeper, ObjIntConsumer<RdmaKey> onReady) {
        this.sleeper = sleeper;
        this.onReady = onReady;
    }

    boolean hasActive() {
        return activeCount > 0;
    }

    /** Whether anything can be waited for in the epoll set. */
    boolean usesEpoll() {
        return inEpoll > 0;
    }

    void add(PollWatch watch) throws IOException {
        watch.target.addListener(watch);
        interestChanged(watch);
    }

    void remove(PollWatch watch) {
        deactivate(watch);
        leaveEpoll(watch);
        watch.target.removeListener(watch);
    }

    /** The key's interest set changed: polls the watch again if there is interest in it. */
    void interestChanged(PollWatch watch) throws IOException {
        if (watch.wanted() != 0) {
            enterEpoll(watch);
            activate(watch);
        } else {
            deactivate(watch);
            if (watch.target.levelTriggered()) {
                leaveEpoll(watch);
            }
        }
    }

    private void enterEpoll(PollWatch watch) throws IOException {
        int fd = watch.target.fd();
        if (fd < 0 || watch.fd == fd && byFd[fd] == watch) {
            return;
        }
        leaveEpoll(watch);
        Epoll epoll = sleeper.epoll();
        if (fd >= byFd.length) {
            byFd = Arrays.copyOf(byFd, Math.max(fd + 1, byFd.length * 2));
        }
        if (byFd[fd] != null) {
            forget(byFd[fd]);
        }
        // A stream's descriptor stays readable for ever once its peer is gone: one event is enough for the poll.
        epoll.add(fd, Linux.EPOLLIN | (watch.target.levelTriggered() ? 0 : Linux.EPOLLET));
        byFd[fd] = watch;
        watch.fd = fd;
        inEpoll++;
    }

    /** The descriptor's number belongs to another now. */
    private void forget(PollWatch stale) {
        byFd[stale.fd] = null;
        stale.fd = -1;
        inEpoll--;
    }

    private void leaveEpoll(PollWatch watch) {
        int fd = watch.fd;
        if (fd >= 0) {
            forget(watch);
            sleeper.epollIfAny().remove(fd);
        }
    }

    void activate(PollWatch watch) {
        if (watch.activeIndex >= 0) {
            return;
        }
        if (activeCount == active.length) {
            active = Arrays.copyOf(active, activeCount * 2);
        }
        watch.idleRounds = 0;
        watch.polled = true;
        watch.activeIndex = activeCount;
        active[activeCount++] = watch;
    }

    private void deactivate(PollWatch watch) {
        watch.polled = false;
        int index = watch.activeIndex;
        if (index >= 0) {
            PollWatch last = active[--activeCount];
            active[activeCount] = null;
            if (last != watch) {
                active[index] = last;
                last.activeIndex = index;
            }
            watch.activeIndex = -1;
        }
    }

    /** A descriptor of the epoll set is readable. */
    void fired(int fd) {
        PollWatch watch = fd < byFd.length ? byFd[fd] : null;
        if (watch == null) {
            return;
        }
        watch.target.consumeEvent();
        if (watch.wanted() != 0) {
            activate(watch);
        } else {
            leaveEpoll(watch); // some stay readable, a socket at its end for example
        }
    }

    /** Polls the active ones; those idle for long are armed. True if any is ready. */
    boolean poll() {
        boolean any = false;
        for (int i = activeCount - 1; i >= 0; i--) {
            PollWatch watch = active[i];
            int wanted = watch.wanted();
            int found = wanted == 0 ? 0 : watch.target.poll() & wanted;
            if (found != 0) {
                watch.idleRounds = 0;
                onReady.accept(watch.key, found);
                any = true;
            } else if (++watch.idleRounds > MAX_IDLE_ROUNDS) {
                any |= arm(watch);
            }
        }
        return any;
    }

    /** Polls the active ones for a moment of spinning: true if any is ready. */
    boolean peek() {
        for (int i = activeCount - 1; i >= 0; i--) {
            PollWatch watch = active[i];
            int wanted = watch.wanted();
            if (wanted != 0 && (watch.target.poll() & wanted) != 0) {
                return true;
            }
        }
        return false;
    }

    /** Arms all; true if that found one ready, so that there is no reason to sleep. */
    boolean arm() {
        boolean any = false;
        for (int i = activeCount - 1; i >= 0; i--) {
            any |= arm(active[i]);
        }
        return any;
    }

    private boolean arm(PollWatch watch) {
        watch.polled = false;
        int wanted = watch.wanted();
        int found = wanted == 0 ? 0 : watch.target.arm() & wanted;
        if (found == 0) {
            deactivate(watch);
            return false;
        }
        watch.polled = true;
        onReady.accept(watch.key, found);
        return true;
    }
}
