package io.verbena.bench.demo.program;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/** The client of {@link BlockingServer}: round trips, then 64 KiB chunks one way. */
final class BlockingClient {
    private static final int MESSAGE_BYTES = 64;

    private BlockingClient() {}

    /** Arguments: the echo port, the sink port, and how many seconds each measurement takes. */
    public static void main(String[] args) throws Exception {
        int seconds = Integer.parseInt(args[2]);
        try (SocketChannel channel = connect(Integer.parseInt(args[0]))) {
            Output.progress("64 B round trips");
            Samples samples = new Samples();
            pingPong(channel, 2, samples);
            samples.clear();
            pingPong(channel, seconds, samples);
            samples.report();
        }
        try (SocketChannel channel = connect(Integer.parseInt(args[1]))) {
            Output.progress("64 KiB chunks one way");
            ByteBuffer chunk = ByteBuffer.allocateDirect(Bulk.CHUNK_BYTES);
            Bulk.measure(seconds, bytes -> send(channel, chunk, bytes));
        }
    }

    private static SocketChannel connect(int port) throws IOException {
        SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        return channel;
    }

    private static void pingPong(SocketChannel channel, int seconds, Samples samples) throws IOException {
        ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_BYTES);
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        long start = System.nanoTime();
        while (start < deadlineNs) {
            write(channel, message.clear());
            read(channel, message.clear());
            long end = System.nanoTime();
            samples.add(end - start);
            start = end;
        }
    }

    private static void send(SocketChannel channel, ByteBuffer chunk, long bytes) throws IOException {
        ByteBuffer header = ByteBuffer.allocateDirect(Long.BYTES).putLong(bytes).flip();
        write(channel, header);
        for (long missing = bytes; missing > 0; missing -= chunk.limit()) {
            write(channel, chunk.clear().limit((int) Math.min(missing, chunk.capacity())));
        }
        read(channel, header.clear());
    }

    private static void write(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    private static void read(SocketChannel channel, ByteBuffer buffer) throws IOException {
        if (!BlockingServer.readFully(channel, buffer)) {
            throw new EOFException("the server closed the connection");
        }
    }
}
