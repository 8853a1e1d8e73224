package io.verbena.spi;

import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.EventFd;
import io.verbena.rdma.sys.Linux;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * Makes a selector of the JDK return when a descriptor that the JDK knows nothing of becomes readable.
 *
 * <p>A socket channel of the JDK is bound to a port of its own, which tells which descriptor is its; the foreign
 * descriptor is put in that one's place (dup2(2)), and the channel is registered. The channel's key is never selected
 * (it is not connected); that the select returns is what counts.
 */
final class Bridge implements AutoCloseable {
    private static final ValueLayout.OfShort PORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int SOCKADDR_BYTES = 128;
    private static final int PORT_OFFSET = 2;
    private static final int ADDRESS_OFFSET = 4;
    private static final int SOCKADDR_IN_BYTES = 16;
    private static final int LOOPBACK = 0x0100007f;

    private final SocketChannel channel;

    /**
     * Joins a descriptor to a selector.
     *
     * @param fd the descriptor; it must stay open until {@link #close}
     * @throws IOException if no descriptor or port can be had
     */
    Bridge(Selector selector, int fd) throws IOException {
        int likely = nextDescriptor();
        channel = JdkProvider.get().openSocketChannel(StandardProtocolFamily.INET);
        try {
            channel.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), 0));
            channel.configureBlocking(false);
            int own = find(((InetSocketAddress) channel.getLocalAddress()).getPort(), likely);
            int unused = Errno.check(Linux.dup3(fd, own, Linux.O_CLOEXEC), "dup3");
            channel.register(selector, SelectionKey.OP_READ);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** The number that the next descriptor will have, if no other thread is faster. */
    private static int nextDescriptor() throws IOException {
        try (EventFd probe = new EventFd()) {
            return probe.fd();
        }
    }

    /** The descriptor bound to 127.0.0.1:port. */
    private static int find(int port, int likely) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(SOCKADDR_BYTES, 8);
            MemorySegment length = arena.allocate(ValueLayout.JAVA_INT);
            if (isBoundTo(likely, port, address, length)) {
                return likely;
            }
            String[] names = new File("/proc/self/fd").list();
            for (String name : names == null ? new String[0] : names) {
                int fd = Integer.parseInt(name);
                if (isBoundTo(fd, port, address, length)) {
                    return fd;
                }
            }
        }
        throw new IOException(
                "the descriptor bound to 127.0.0.1:" + port + " is not found in /proc/self/fd; is /proc mounted?");
    }

    private static boolean isBoundTo(int fd, int port, MemorySegment address, MemorySegment length) {
        length.set(ValueLayout.JAVA_INT, 0, SOCKADDR_BYTES);
        return Linux.getsockname(fd, address, length) == 0
                && length.get(ValueLayout.JAVA_INT, 0) == SOCKADDR_IN_BYTES
                && address.get(ValueLayout.JAVA_SHORT, 0) == Linux.AF_INET
                && (address.get(PORT, PORT_OFFSET) & 0xffff) == port
                && address.get(ValueLayout.JAVA_INT, ADDRESS_OFFSET) == LOOPBACK;
    }

    /** Closes the descriptor; the selector must be closed before, or select once more after it. */
    @Override
    public void close() throws IOException {
        channel.close();
    }
}
