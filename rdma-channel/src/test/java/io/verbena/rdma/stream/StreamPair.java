package io.verbena.rdma.stream;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/** A listener with its TCP twin, and streams connected to it, in one process. */
final class StreamPair implements AutoCloseable {
    final ServerSocketChannel twin;
    final StreamListener listener;
    final InetSocketAddress address;
    final SocketChannel clientTwin;
    RdmaStream client;
    RdmaStream server;

    private StreamPair(int backlog) throws IOException {
        twin = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        address = (InetSocketAddress) twin.getLocalAddress();
        listener = StreamFabric.get().listen(address, backlog, 0);
        clientTwin = SocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    static StreamPair listening(int backlog) throws IOException {
        return new StreamPair(backlog);
    }

    static StreamPair open() throws IOException {
        var pair = new StreamPair(16);
        pair.client = pair.connect();
        pair.server = pair.accept();
        return pair;
    }

    InetSocketAddress clientAddress() throws IOException {
        return (InetSocketAddress) clientTwin.getLocalAddress();
    }

    RdmaStream connect() throws IOException {
        PendingConnect pending = StreamFabric.get().connect(clientAddress(), address, 0, true);
        assertTrue(pending.await(20, TimeUnit.SECONDS), "the connect hangs");
        assertNotNull(pending.stream(), () -> "failed: " + pending.failure());
        pending.release();
        return pending.stream();
    }

    RdmaStream accept() {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        RdmaStream stream = listener.accept();
        while (stream == null) {
            assertTrue(System.nanoTime() - deadlineNs < 0, "nothing to accept");
            Thread.onSpinWait();
            stream = listener.accept();
        }
        return stream;
    }

    @Override
    public void close() throws IOException {
        if (client != null) {
            client.close(false);
        }
        if (server != null) {
            server.close(false);
        }
        listener.close();
        twin.close();
        clientTwin.close();
    }
}
