package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** File descriptors of the libraries: made non-blocking, and waited for with a time-out. */
final class Descriptors {
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;
    private static final int POLLFD_BYTES = 8;
    private static final int TIMESPEC_BYTES = 16;

    private Descriptors() {}

    static void setNonBlocking(int fd) throws IOException {
        int flags = Errno.check(Linux.fcntl(fd, F_GETFL, 0), "fcntl(" + fd + ", F_GETFL)");
        Errno.check(Linux.fcntl(fd, F_SETFL, flags | O_NONBLOCK), "fcntl(" + fd + ", F_SETFL)");
    }

    /**
     * Waits until a descriptor is readable (ppoll(2)).
     *
     * @param timeoutMs milliseconds, 0 returns at once, negative waits for ever
     * @return false at the time-out, and if a signal ended a bounded wait
     */
    static boolean awaitReadable(int fd, int timeoutMs) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pollFd = arena.allocate(POLLFD_BYTES, 4);
            pollFd.set(JAVA_INT, 0, fd);
            pollFd.set(JAVA_SHORT, 4, (short) Linux.POLLIN);
            MemorySegment timeout = timespec(arena, timeoutMs);
            int n;
            do {
                n = Linux.ppoll(pollFd, 1, timeout, MemorySegment.NULL);
            } while (n == -Errno.EINTR && timeoutMs < 0);
            return n != -Errno.EINTR && Errno.check(n, "ppoll(" + fd + ")") > 0;
        }
    }

    private static MemorySegment timespec(Arena arena, int timeoutMs) {
        if (timeoutMs < 0) {
            return MemorySegment.NULL;
        }
        MemorySegment timespec = arena.allocate(TIMESPEC_BYTES, 8);
        timespec.set(JAVA_LONG, 0, timeoutMs / 1000);
        timespec.set(JAVA_LONG, 8, timeoutMs % 1000 * 1_000_000L);
        return timespec;
    }
}
