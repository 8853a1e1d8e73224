package io.verbena.compat.program;

import com.sun.management.ThreadMXBean;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;

/**
 * Round trips and one-way bulk over blocking channels. {@code PingPong server}, or {@code PingPong client PORT}. The
 * server ends with its client.
 */
public final class PingPong {
    private static final int MESSAGE_BYTES = 64;
    private static final int WARM_UP = 150_000;
    private static final int ROUNDS = 30_000;
    private static final int CHUNK_BYTES = 64 * 1024;
    private static final int WARM_UP_CHUNKS = 150_000;
    private static final int CHUNKS = 50_000;

    private PingPong() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("server")) {
            serve();
        } else {
            drive(Integer.parseInt(args[1]));
        }
    }

    private static void serve() throws IOException {
        try (ServerSocketChannel listener =
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            System.out.println("port " + ((InetSocketAddress) listener.getLocalAddress()).getPort());
            try (SocketChannel channel = listener.accept()) {
                ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_BYTES);
                echo(channel, message, WARM_UP);
                long allocated = allocatedBytes();
                echo(channel, message, ROUNDS);
                System.out.println("allocated " + (allocatedBytes() - allocated));
                swallow(channel, (long) (WARM_UP_CHUNKS + CHUNKS) * CHUNK_BYTES);
                channel.write(message.clear());
            }
        }
    }

    private static void echo(SocketChannel channel, ByteBuffer message, int rounds) throws IOException {
        for (int i = 0; i < rounds; i++) {
            read(channel, message.clear());
            write(channel, message.flip());
        }
    }

    private static void swallow(SocketChannel channel, long bytes) throws IOException {
        ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
        for (long left = bytes; left > 0; ) {
            int n = channel.read(chunk.clear());
            if (n < 0) {
                throw new IOException("ended " + left + " bytes early");
            }
            left -= n;
        }
    }

    private static void drive(int port) throws IOException {
        try (SocketChannel channel =
                SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
            ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_BYTES);
            long[] tookNs = new long[ROUNDS];
            for (int i = 0; i < WARM_UP; i++) {
                roundTrip(channel, message);
            }
            long allocated = allocatedBytes();
            mark("begin");
            measure(channel, message, tookNs);
            mark("end");
            System.out.println("allocated " + (allocatedBytes() - allocated));
            Arrays.sort(tookNs);
            System.out.println("p50 " + tookNs[ROUNDS / 2]);
            System.out.println("p99 " + tookNs[ROUNDS - ROUNDS / 100]);
            System.out.println("bytesPerSecond " + bulk(channel, message));
        }
    }

    private static void measure(SocketChannel channel, ByteBuffer message, long[] tookNs) throws IOException {
        for (int i = 0; i < ROUNDS; i++) {
            long startNs = System.nanoTime();
            roundTrip(channel, message);
            tookNs[i] = System.nanoTime() - startNs;
        }
    }

    private static void roundTrip(SocketChannel channel, ByteBuffer message) throws IOException {
        write(channel, message.clear());
        read(channel, message.clear());
    }

    private static long bulk(SocketChannel channel, ByteBuffer message) throws IOException {
        ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
        for (int i = 0; i < WARM_UP_CHUNKS; i++) {
            write(channel, chunk.clear());
        }
        long startNs = System.nanoTime();
        for (int i = 0; i < CHUNKS; i++) {
            write(channel, chunk.clear());
        }
        read(channel, message.clear());
        double seconds = (System.nanoTime() - startNs) / 1e9;
        return (long) (CHUNKS * (double) CHUNK_BYTES / seconds);
    }

    private static void write(SocketChannel channel, ByteBuffer src) throws IOException {
        while (src.hasRemaining()) {
            channel.write(src);
        }
    }

    private static void read(SocketChannel channel, ByteBuffer dst) throws IOException {
        while (dst.hasRemaining()) {
            if (channel.read(dst) < 0) {
                throw new IOException("ended");
            }
        }
    }

    /** A system call that a trace shows. */
    private static void mark(String name) {
        boolean unused = new File("/verbena-mark-" + name).exists();
    }

    private static long allocatedBytes() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
    }
}
