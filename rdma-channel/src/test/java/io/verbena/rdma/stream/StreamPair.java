package io.verbena.rdma.stream;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A listener with its TCP twin, and streams connected to it, in one process. */
final class StreamPair implements AutoCloseable {
    /** iWARP's connections take the TCP ports themselves; there a twin only finds a free one. */
    static final boolean TWINS = !"siw".equals(System.getProperty("io.verbena.test.device"));

    final ServerSocketChannel twin;
    final StreamListener listener;
    final InetSocketAddress address;
    final SocketChannel clientTwin;
    private final InetSocketAddress clientAddress;

    /** One for each further connection: two from one port to one listener can't be. */
    private final List<SocketChannel> moreTwins = new ArrayList<>();

    private boolean clientTwinUsed;
    RdmaStream client;
    RdmaStream server;

    private StreamPair(int backlog) throws IOException {
        twin = ServerSocketChannel.open().bind(localPort());
        address = (InetSocketAddress) twin.getLocalAddress();
        if (!TWINS) {
            twin.close();
        }
        listener = StreamFabric.get().listen(address, backlog, 0);
        clientTwin = SocketChannel.open().bind(localPort());
        clientAddress = (InetSocketAddress) clientTwin.getLocalAddress();
        if (!TWINS) {
            clientTwin.close();
        }
    }

    /** A free port where the device under test is reached: {@code io.verbena.test.address}, by default the loopback. */
    static InetSocketAddress localPort() {
        String address = System.getProperty("io.verbena.test.address");
        return address == null
                ? new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)
                : new InetSocketAddress(address, 0);
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

    InetSocketAddress clientAddress() {
        return clientAddress;
    }

    RdmaStream connect() throws IOException {
        InetSocketAddress local = clientTwinUsed ? anotherTwin() : clientAddress();
        clientTwinUsed = true;
        PendingConnect pending = StreamFabric.get().connect(local, address, 0, true);
        assertTrue(pending.await(20, TimeUnit.SECONDS), "the connect hangs");
        assertNotNull(pending.stream(), () -> "failed: " + pending.failure());
        pending.release();
        return pending.stream();
    }

    InetSocketAddress anotherTwin() throws IOException {
        SocketChannel another = SocketChannel.open().bind(localPort());
        moreTwins.add(another);
        var bound = (InetSocketAddress) another.getLocalAddress();
        if (!TWINS) {
            another.close();
        }
        return bound;
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
        for (SocketChannel another : moreTwins) {
            another.close();
        }
    }
}
