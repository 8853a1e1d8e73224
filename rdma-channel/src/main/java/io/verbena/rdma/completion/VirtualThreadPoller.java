package io.verbena.rdma.completion;

import io.verbena.rdma.sys.Epoll;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits on descriptors for parked virtual threads, so that their carriers stay free: one daemon thread a process, as
 * the JDK's own poller, started by the first use. It only unparks; it never touches a stream.
 */
final class VirtualThreadPoller {
    private static final class Holder {
        static final VirtualThreadPoller INSTANCE = start();

        private static VirtualThreadPoller start() {
            try {
                var poller = new VirtualThreadPoller();
                Thread.ofPlatform().name("verbena-vthread-poller").daemon(true).start(poller::run);
                return poller;
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }
    }

    private final Epoll epoll = new Epoll();
    private final ConcurrentHashMap<Integer, Sleeper> sleepers = new ConcurrentHashMap<>();

    private VirtualThreadPoller() throws IOException {}

    /**
     * Parks the current virtual thread until the descriptor is readable, the sleeper is woken, or the time is over.
     * Early returns are possible.
     *
     * @return whether the descriptor fired
     */
    static boolean await(int fd, Sleeper me, long timeoutNs) throws IOException {
        return Holder.INSTANCE.doAwait(fd, me, timeoutNs);
    }

    private boolean doAwait(int fd, Sleeper me, long timeoutNs) throws IOException {
        me.fired = false;
        sleepers.put(fd, me);
        register(fd);
        if (!me.woken) {
            Sleeper.park(this, timeoutNs);
        }
        boolean fired = me.fired;
        if (!fired) {
            epoll.remove(fd);
        }
        sleepers.remove(fd, me);
        return fired || me.fired;
    }

    private void register(int fd) throws IOException {
        int mask = Linux.EPOLLIN | Linux.EPOLLONESHOT;
        try {
            epoll.modify(fd, mask);
        } catch (IOException notThere) {
            epoll.add(fd, mask);
        }
    }

    private void run() {
        while (true) {
            try {
                int n = epoll.await(-1);
                for (int i = 0; i < n; i++) {
                    fire(epoll.fd(i));
                }
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e); // our own descriptor: a bug
            }
        }
    }

    private void fire(int fd) {
        Sleeper s = sleepers.get(fd);
        if (s != null) {
            Thread t = s.thread;
            s.fired = true;
            LockSupport.unpark(t);
        }
    }
}
