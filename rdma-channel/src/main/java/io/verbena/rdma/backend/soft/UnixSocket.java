package io.verbena.rdma.backend.soft;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * Abstract sockets of type SOCK_SEQPACKET (unix(7)): making, meeting, and messages with descriptors.
 *
 * <p>Stateless; descriptors are plain ints, non-blocking and close-on-exec. Results are as in {@link Linux}: negative
 * errno on failure.
 */
final class UnixSocket {
    private static final int TYPE = Linux.SOCK_SEQPACKET | Linux.SOCK_CLOEXEC | Linux.SOCK_NONBLOCK;
    private static final int MSGHDR_BYTES = 56;
    private static final int CMSG_HEADER_BYTES = 16;
    private static final int UCRED_BYTES = 12;

    private UnixSocket() {}

    /** Process, user and group of the peer, as of its connect or listen (SO_PEERCRED). */
    record Credentials(int pid, int uid, int gid) {}

    /** A new socket, or a negative errno. */
    static int open() {
        return Linux.socket(Linux.AF_UNIX, TYPE, 0);
    }

    /** Connects to an abstract name; -EAGAIN if the listener's backlog is full, -ECONNREFUSED if there is none. */
    static int connect(int fd, String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = address(arena, name);
            return Linux.connect(fd, address, (int) address.byteSize());
        }
    }

    /** Binds to an abstract name and listens. */
    static int listen(int fd, String name, int backlog) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = address(arena, name);
            int bound = Linux.bind(fd, address, (int) address.byteSize());
            return bound < 0 ? bound : Linux.listen(fd, backlog);
        }
    }

    /** Accepts one connection. */
    static int accept(int fd) {
        return Linux.accept4(fd, MemorySegment.NULL, MemorySegment.NULL, Linux.SOCK_CLOEXEC | Linux.SOCK_NONBLOCK);
    }

    /** {@code struct sockaddr_un} for {@code "\0" + name}; its length says where the name ends. */
    private static MemorySegment address(Arena arena, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        MemorySegment address = arena.allocate(Short.BYTES + 1 + bytes.length, 8);
        address.set(JAVA_SHORT, 0, (short) Linux.AF_UNIX);
        MemorySegment.copy(bytes, 0, address, java.lang.foreign.ValueLayout.JAVA_BYTE, Short.BYTES + 1, bytes.length);
        return address;
    }

    static Credentials credentials(int fd) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(UCRED_BYTES, 8);
            MemorySegment length = arena.allocateFrom(JAVA_INT, UCRED_BYTES);
            int result = Errno.check(
                    Linux.getsockopt(fd, Linux.SOL_SOCKET, Linux.SO_PEERCRED, value, length),
                    "getsockopt(SO_PEERCRED)");
            assert result == 0;
            return new Credentials(value.get(JAVA_INT, 0), value.get(JAVA_INT, 4), value.get(JAVA_INT, 8));
        }
    }

    /**
     * Sends one message with descriptors.
     *
     * @return bytes sent, or a negative errno: -EAGAIN if the peer does not read, -ETOOMANYREFS if too many
     *     descriptors are in flight
     */
    static long send(int fd, byte[] message, int[] fds) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocateFrom(java.lang.foreign.ValueLayout.JAVA_BYTE, message);
            MemorySegment control = fds.length == 0 ? MemorySegment.NULL : rights(arena, fds);
            MemorySegment header = header(arena, data, control);
            return Linux.sendmsg(fd, header, Linux.MSG_DONTWAIT | Linux.MSG_NOSIGNAL);
        }
    }

    private static MemorySegment rights(Arena arena, int[] fds) {
        MemorySegment control = arena.allocate(controlBytes(fds.length), 8);
        control.set(JAVA_LONG, 0, CMSG_HEADER_BYTES + 4L * fds.length);
        control.set(JAVA_INT, 8, Linux.SOL_SOCKET);
        control.set(JAVA_INT, 12, Linux.SCM_RIGHTS);
        MemorySegment.copy(fds, 0, control, JAVA_INT, CMSG_HEADER_BYTES, fds.length);
        return control;
    }

    private static long controlBytes(int fds) {
        return CMSG_HEADER_BYTES + ((4L * fds + 7) & ~7L);
    }

    private static MemorySegment header(Arena arena, MemorySegment data, MemorySegment control) {
        MemorySegment iov = arena.allocate(16, 8);
        iov.set(ADDRESS, 0, data);
        iov.set(JAVA_LONG, 8, data.byteSize());
        MemorySegment header = arena.allocate(MSGHDR_BYTES, 8);
        header.set(ADDRESS, 16, iov);
        header.set(JAVA_LONG, 24, 1);
        header.set(ADDRESS, 32, control);
        header.set(JAVA_LONG, 40, control.byteSize());
        return header;
    }

    /**
     * Receives one message with its descriptors.
     *
     * @param maxFds more descriptors than this make the message invalid
     * @return the message, {@link Received#isEnd} at the end, or null if there is none now
     * @throws IOException if the message is longer than any of ours, carries too many descriptors, or the socket failed
     */
    static Received receive(int fd, int maxBytes, int maxFds) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(maxBytes, 8);
            MemorySegment control = arena.allocate(controlBytes(maxFds), 8);
            MemorySegment header = header(arena, data, control);
            long n = Linux.recvmsg(fd, header, Linux.MSG_DONTWAIT | Linux.MSG_CMSG_CLOEXEC);
            if (n == -Errno.EAGAIN || n == -Errno.EINTR) {
                return null;
            }
            if (n == -Errno.ECONNRESET) {
                return new Received(new byte[0], new int[0]);
            }
            int length = Errno.check((int) n, "recvmsg");
            // Also of an empty message, which counts as the end: whatever came along is ours to close.
            int[] fds = descriptors(control, header.get(JAVA_LONG, 40));
            int flags = header.get(JAVA_INT, 48);
            if ((flags & (Linux.MSG_TRUNC | Linux.MSG_CTRUNC)) != 0) {
                closeAll(fds);
                // Descriptors are lost when there are more than one of our messages has, or none is free here.
                throw new CmException("recvmsg", (flags & Linux.MSG_CTRUNC) != 0 ? -Errno.EMFILE : -Errno.EPROTO);
            }
            return new Received(data.asSlice(0, length).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE), fds);
        }
    }

    /** The descriptors in a control buffer; whatever else is in it is skipped. */
    private static int[] descriptors(MemorySegment control, long controlLength) {
        int[] all = {};
        long at = 0;
        while (at + CMSG_HEADER_BYTES <= controlLength) {
            long length = control.get(JAVA_LONG, at);
            if (length < CMSG_HEADER_BYTES || length > controlLength - at) {
                break;
            }
            if (control.get(JAVA_INT, at + 8) == Linux.SOL_SOCKET
                    && control.get(JAVA_INT, at + 12) == Linux.SCM_RIGHTS) {
                int[] some = control.asSlice(at + CMSG_HEADER_BYTES, (length - CMSG_HEADER_BYTES) & ~3L)
                        .toArray(JAVA_INT);
                int old = all.length;
                all = java.util.Arrays.copyOf(all, old + some.length);
                System.arraycopy(some, 0, all, old, some.length);
            }
            at += (length + 7) & ~7L;
        }
        return all;
    }

    static void closeAll(int[] fds) {
        for (int fd : fds) {
            int unused = Linux.close(fd);
        }
    }

    /**
     * One message.
     *
     * @param data its bytes
     * @param fds its descriptors, owned by the receiver
     */
    record Received(byte[] data, int[] fds) {
        /** Whether the peer closed or shut down (or sent an empty message, which none of ours is). */
        boolean isEnd() {
            return data.length == 0;
        }
    }
}
