package io.verbena.rdma.backend.soft;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Predicate;

/** One question to the kernel over netlink(7) and its answers. A socket is opened per question; nothing stays open. */
final class Netlink {
    static final int NETLINK_ROUTE = 0;
    static final int NETLINK_SOCK_DIAG = 4;
    static final int HEADER_BYTES = 16;
    static final int NLM_F_REQUEST = 1;
    static final int NLM_F_DUMP = 0x300;

    private static final int NLMSG_ERROR = 2;
    private static final int NLMSG_DONE = 3;
    private static final int BUFFER_BYTES = 32 * 1024;
    private static final int SO_RCVTIMEO = 20;
    private static final long ANSWER_TIMEOUT_S = 1;

    private Netlink() {}

    /** A request buffer in native order with its header filled in; the length is set by {@link #ask}. */
    static ByteBuffer request(int type, int flags) {
        ByteBuffer request = ByteBuffer.allocate(256).order(ByteOrder.nativeOrder());
        return request.putInt(0)
                .putShort((short) type)
                .putShort((short) (flags | NLM_F_REQUEST))
                .putInt(1)
                .putInt(0);
    }

    /**
     * Sends a request and shows every answer.
     *
     * @param request as {@link #request} made it, filled up to its position
     * @param answer gets the payload of each message in native order; returns whether it wants more
     * @return 0, or the negative errno that the kernel answered or a call gave
     */
    static int ask(int protocol, ByteBuffer request, Predicate<ByteBuffer> answer) {
        int fd = Linux.socket(Linux.AF_NETLINK, Linux.SOCK_RAW | Linux.SOCK_CLOEXEC, protocol);
        if (fd < 0) {
            return fd;
        }
        try (Arena arena = Arena.ofConfined()) {
            return exchange(arena, fd, request, answer);
        } finally {
            int unused = Linux.close(fd);
        }
    }

    private static int exchange(Arena arena, int fd, ByteBuffer request, Predicate<ByteBuffer> answer) {
        MemorySegment timeout = arena.allocate(16, 8);
        timeout.set(java.lang.foreign.ValueLayout.JAVA_LONG, 0, ANSWER_TIMEOUT_S);
        int unused = Linux.setsockopt(fd, Linux.SOL_SOCKET, SO_RCVTIMEO, timeout, 16);
        int length = request.putInt(0, request.position()).position();
        MemorySegment message = arena.allocate(length, 8);
        MemorySegment.copy(MemorySegment.ofBuffer(request.duplicate().flip()), 0, message, 0, length);
        // sockaddr_nl of zeros but the family: the kernel. Without it a send goes there as well.
        MemorySegment kernel = arena.allocate(12, 8);
        kernel.set(JAVA_SHORT, 0, (short) Linux.AF_NETLINK);
        int connected = Linux.connect(fd, kernel, 12);
        if (connected < 0) {
            return connected;
        }
        long sent = Linux.send(fd, message, length, Linux.MSG_NOSIGNAL);
        return sent < 0 ? (int) sent : answers(fd, arena.allocate(BUFFER_BYTES, 8), answer);
    }

    private static int answers(int fd, MemorySegment buffer, Predicate<ByteBuffer> answer) {
        while (true) {
            long n = Linux.recv(fd, buffer, BUFFER_BYTES, 0);
            if (n == -Errno.EINTR) {
                continue;
            }
            if (n <= 0) {
                return n == 0 ? -Errno.EPROTO : (int) n;
            }
            ByteBuffer messages = buffer.asSlice(0, n).asByteBuffer().order(ByteOrder.nativeOrder());
            while (messages.remaining() >= HEADER_BYTES) {
                int at = messages.position();
                int length = messages.getInt(at);
                int type = Short.toUnsignedInt(messages.getShort(at + 4));
                if (length < HEADER_BYTES || length > messages.remaining()) {
                    return -Errno.EPROTO;
                }
                if (type == NLMSG_ERROR) {
                    return length < HEADER_BYTES + 4 ? -Errno.EPROTO : messages.getInt(at + HEADER_BYTES);
                }
                ByteBuffer payload = messages.slice(at + HEADER_BYTES, length - HEADER_BYTES);
                if (type == NLMSG_DONE || !answer.test(payload.order(ByteOrder.nativeOrder()))) {
                    return 0;
                }
                messages.position(Math.min(messages.limit(), at + ((length + 3) & ~3)));
            }
        }
    }
}
