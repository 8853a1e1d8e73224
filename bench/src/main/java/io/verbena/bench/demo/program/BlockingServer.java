package io.verbena.bench.demo.program;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** An echo server and a sink on blocking channels, with one platform thread a connection. */
final class BlockingServer {
    private BlockingServer() {}

    /** What a thread does with a connection. */
    @FunctionalInterface
    private interface Service {
        void serve(SocketChannel channel) throws IOException;
    }

    public static void main(String[] args) throws IOException {
        try (ServerSocketChannel echo = listen();
                ServerSocketChannel sink = listen()) {
            start(echo, BlockingServer::echo);
            start(sink, BlockingServer::sink);
            Output.ready(echo.socket().getLocalPort(), sink.socket().getLocalPort());
            Output.awaitEndOfInput();
        }
    }

    private static ServerSocketChannel listen() throws IOException {
        return ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    /** Serves the one connection that the client makes. */
    private static void start(ServerSocketChannel listener, Service service) {
        Thread.ofPlatform().daemon().start(() -> {
            try (SocketChannel channel = listener.accept()) {
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                service.serve(channel);
            } catch (IOException e) {
                System.err.println("connection ended: " + e);
            }
        });
    }

    private static void echo(SocketChannel channel) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(Bulk.CHUNK_BYTES);
        while (channel.read(buffer) >= 0) {
            buffer.flip();
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
            buffer.clear();
        }
    }

    private static void sink(SocketChannel channel) throws IOException {
        ByteBuffer header = ByteBuffer.allocateDirect(Long.BYTES);
        ByteBuffer chunk = ByteBuffer.allocateDirect(Bulk.CHUNK_BYTES);
        while (readFully(channel, header.clear())) {
            long missingBytes = header.getLong(0);
            while (missingBytes > 0) {
                chunk.clear().limit((int) Math.min(missingBytes, chunk.capacity()));
                int count = channel.read(chunk);
                if (count < 0) {
                    throw new IOException("end of stream with " + missingBytes + " bytes missing");
                }
                missingBytes -= count;
            }
            header.rewind();
            while (header.hasRemaining()) {
                channel.write(header);
            }
        }
    }

    /** Fills the buffer; false at the end of the stream. */
    static boolean readFully(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                return false;
            }
        }
        return true;
    }
}
