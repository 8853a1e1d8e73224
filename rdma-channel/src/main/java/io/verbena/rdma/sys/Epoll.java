package io.verbena.rdma.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * One epoll set (epoll(7)) with its buffer of events.
 *
 * <p>{@link #add}, {@link #modify}, {@link #remove} are thread-safe, also while another thread waits; {@link #await}
 * and the accessors of its result belong to one thread at a time; {@link #close} to whoever knows that no other call
 * is under way.
 */
public final class Epoll implements AutoCloseable {
    /** {@code struct epoll_event} is packed on x86-64 and naturally aligned elsewhere. */
    private static final boolean PACKED = System.getProperty("os.arch").equals("amd64");

    private static final int EVENT_BYTES = PACKED ? 12 : 16;
    private static final int DATA_OFFSET = PACKED ? 4 : 8;
    private static final int MAX_EVENTS = 256;

    /** Freed by the garbage collector: a late caller may still hold it. */
    private final MemorySegment events = Arena.ofAuto().allocate((long) MAX_EVENTS * EVENT_BYTES, 8);

    private final int fd;

    /**
     * Makes an epoll set, close-on-exec.
     *
     * @throws IOException if the limit of open files is reached
     */
    public Epoll() throws IOException {
        fd = Errno.check(Linux.epollCreate(Linux.O_CLOEXEC), "epoll_create1");
    }

    /** The descriptor of the set; readable (poll(2)) while an event is pending. */
    public int fd() {
        return fd;
    }

    /**
     * Adds a descriptor.
     *
     * @param target the descriptor, which {@link #fd(int)} will return
     * @param mask EPOLLIN and its kin
     * @throws IOException on any failure
     */
    public void add(int target, int mask) throws IOException {
        Errno.check(control(Linux.EPOLL_CTL_ADD, target, mask), "epoll_ctl(ADD, " + target + ")");
    }

    /** Changes the mask of a descriptor that is in the set. */
    public void modify(int target, int mask) throws IOException {
        Errno.check(control(Linux.EPOLL_CTL_MOD, target, mask), "epoll_ctl(MOD, " + target + ")");
    }

    /** Takes a descriptor out of the set; nothing happens if it is not there. */
    public void remove(int target) {
        int unused = control(Linux.EPOLL_CTL_DEL, target, 0);
    }

    private int control(int op, int target, int mask) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(EVENT_BYTES, 8);
            event.set(JAVA_INT_UNALIGNED, 0, mask);
            event.set(JAVA_INT_UNALIGNED, DATA_OFFSET, target);
            return Linux.epollCtl(fd, op, target, event);
        }
    }

    /**
     * Waits for events (epoll_wait(2)).
     *
     * @param timeoutMs milliseconds, 0 returns at once, -1 waits for ever
     * @return the number of events; 0 at the time-out and after a signal
     * @throws IOException on any failure but EINTR
     */
    public int await(int timeoutMs) throws IOException {
        int n = Linux.epollWait(fd, events, MAX_EVENTS, timeoutMs);
        return n == -Errno.EINTR ? 0 : Errno.check(n, "epoll_wait");
    }

    /** The descriptor of event {@code i} of the last {@link #await}. */
    public int fd(int i) {
        return events.get(JAVA_INT_UNALIGNED, (long) i * EVENT_BYTES + DATA_OFFSET);
    }

    /** The mask of event {@code i} of the last {@link #await}. */
    public int events(int i) {
        return events.get(JAVA_INT_UNALIGNED, (long) i * EVENT_BYTES);
    }

    @Override
    public void close() {
        int unused = Linux.close(fd);
    }
}
