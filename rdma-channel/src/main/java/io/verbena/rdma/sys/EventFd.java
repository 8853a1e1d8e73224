package io.verbena.rdma.sys;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A wake-up descriptor of our own process (eventfd(2)): readable between {@link #signal} and {@link #drain}.
 *
 * <p>Never shared with another process, so neither call can block. {@link #signal} and {@link #drain} are
 * thread-safe.
 */
public final class EventFd implements AutoCloseable {
    private static final int EFD_NONBLOCK = Linux.SOCK_NONBLOCK;

    private static final MemorySegment ONE = one();

    private final MemorySegment value = Arena.ofAuto().allocate(JAVA_LONG);
    private final int fd;

    /**
     * Makes a descriptor, close-on-exec.
     *
     * @throws IOException if the limit of open files is reached
     */
    public EventFd() throws IOException {
        fd = Errno.check(Linux.eventfd(0, Linux.O_CLOEXEC | EFD_NONBLOCK), "eventfd");
    }

    private static MemorySegment one() {
        MemorySegment one = Arena.global().allocate(JAVA_LONG);
        one.set(JAVA_LONG, 0, 1);
        return one;
    }

    /** The descriptor, to be polled for reading. */
    public int fd() {
        return fd;
    }

    /** Makes the descriptor readable. */
    public void signal() {
        long unused = Linux.write(fd, ONE, Long.BYTES);
    }

    /** Makes the descriptor unreadable. */
    public void drain() {
        long unused = Linux.read(fd, value, Long.BYTES);
    }

    @Override
    public void close() {
        int unused = Linux.close(fd);
    }
}
