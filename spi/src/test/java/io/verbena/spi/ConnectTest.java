package io.verbena.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.verbena.spi.Variant.Pair;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** SocketChannel: from open to connected. */
@ParameterizedClass
@MethodSource("io.verbena.spi.Variant#all")
class ConnectTest {
    private final Variant variant;

    ConnectTest(Variant variant) {
        this.variant = variant;
    }

    private static SocketAddress refusingAddress() throws IOException {
        try (ServerSocketChannel listener = Variant.JDK.listen()) {
            return listener.getLocalAddress();
        }
    }

    @Test
    void blockingConnectToOwnListenerCompletesWithoutAccept() throws Exception {
        try (ServerSocketChannel listener = variant.listen();
                SocketChannel client = variant.open()) {
            assertTrue(client.connect(listener.getLocalAddress()));
            assertTrue(client.isConnected());
            try (SocketChannel server = listener.accept()) {
                variant.checked(new Pair(client, server));
                assertTrue(server.isBlocking());
            }
        }
    }

    @Test
    void addressesOfBothEndsAgree() throws Exception {
        try (ServerSocketChannel listener = variant.listen();
                Pair pair = variant.pair(listener)) {
            assertEquals(listener.getLocalAddress(), pair.client().getRemoteAddress());
            assertEquals(listener.getLocalAddress(), pair.server().getLocalAddress());
            assertEquals(pair.client().getLocalAddress(), pair.server().getRemoteAddress());
            assertEquals(Variant.loopback(), ((InetSocketAddress) pair.client().getLocalAddress()).getAddress());
        }
    }

    @Test
    void connectToTheWildcardAddressReachesLoopback() throws Exception {
        try (ServerSocketChannel listener = variant.provider().openServerSocketChannel();
                SocketChannel client = variant.open()) {
            listener.bind(new InetSocketAddress(0));
            int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            client.connect(new InetSocketAddress(InetAddress.getByAddress(new byte[4]), port));
            try (SocketChannel server = listener.accept()) {
                variant.checked(new Pair(client, server));
                assertEquals(new InetSocketAddress(Variant.loopback(), port), client.getRemoteAddress());
                assertEquals(client.getLocalAddress(), server.getRemoteAddress());
            }
        }
    }

    @Test
    void ipv6LoopbackConnects() throws Exception {
        try (ServerSocketChannel listener = variant.provider().openServerSocketChannel();
                SocketChannel client = variant.open()) {
            listener.bind(new InetSocketAddress(Variant.loopback6(), 0));
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                variant.checked(new Pair(client, server));
                assertEquals(client.getLocalAddress(), server.getRemoteAddress());
            }
        }
    }

    @Test
    void portBoundByTheProgramIsUsed() throws Exception {
        try (ServerSocketChannel listener = variant.listen();
                SocketChannel client = variant.open()) {
            client.bind(new InetSocketAddress(Variant.loopback(), 0));
            SocketAddress bound = client.getLocalAddress();
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                variant.checked(new Pair(client, server));
                assertEquals(bound, client.getLocalAddress());
                assertEquals(bound, server.getRemoteAddress());
            }
        }
    }

    @Test
    void bindNullTakesAnEphemeralPort() throws Exception {
        try (SocketChannel client = variant.open()) {
            assertNull(client.getLocalAddress());
            client.bind(null);
            assertTrue(((InetSocketAddress) client.getLocalAddress()).getPort() > 0);
            assertThrows(AlreadyBoundException.class, () -> client.bind(null));
        }
    }

    @Test
    void nonBlockingConnectIsPendingUntilFinished() throws Exception {
        try (ServerSocketChannel listener = variant.listen();
                SocketChannel client = variant.open();
                Selector selector = variant.selector()) {
            client.configureBlocking(false);
            if (!client.connect(listener.getLocalAddress())) {
                assertTrue(client.isConnectionPending());
                assertFalse(client.isConnected());
                assertThrows(ConnectionPendingException.class, () -> client.connect(listener.getLocalAddress()));
                assertThrows(ConnectionPendingException.class, () -> client.bind(null));
                assertThrows(NotYetConnectedException.class, () -> client.read(ByteBuffer.allocate(1)));
                assertThrows(NotYetConnectedException.class, () -> client.write(ByteBuffer.allocate(1)));
                client.register(selector, SelectionKey.OP_CONNECT);
                assertEquals(1, selector.select(Wait.SECONDS * 1000));
                assertTrue(client.finishConnect());
            }
            assertTrue(client.isConnected());
            assertFalse(client.isConnectionPending());
            assertTrue(client.finishConnect());
            try (SocketChannel server = listener.accept()) {
                variant.checked(new Pair(client, server));
            }
        }
    }

    @Test
    void finishConnectCanBePolled() throws Exception {
        try (ServerSocketChannel listener = variant.listen();
                SocketChannel client = variant.open()) {
            client.configureBlocking(false);
            client.connect(listener.getLocalAddress());
            Wait.until("finishConnect", client::finishConnect);
            try (SocketChannel server = listener.accept()) {
                variant.checked(new Pair(client, server));
            }
        }
    }

    @Test
    void finishConnectBlocksInBlockingMode() throws Exception {
        try (ServerSocketChannel listener = variant.listen();
                SocketChannel client = variant.open()) {
            client.configureBlocking(false);
            client.connect(listener.getLocalAddress());
            client.configureBlocking(true);
            assertTrue(client.finishConnect());
            try (SocketChannel server = listener.accept()) {
                variant.checked(new Pair(client, server));
            }
        }
    }

    @Test
    void refusedBlockingConnectThrowsAndCloses() throws Exception {
        try (SocketChannel client = variant.open()) {
            SocketAddress refusing = refusingAddress();
            ConnectException e = assertThrows(ConnectException.class, () -> client.connect(refusing));
            assertEquals("Connection refused", e.getMessage());
            assertFalse(client.isOpen());
        }
    }

    @Test
    void refusedNonBlockingConnectIsSelectedAndFinishConnectThrows() throws Exception {
        try (SocketChannel client = variant.open();
                Selector selector = variant.selector()) {
            client.configureBlocking(false);
            SelectionKey key = client.register(selector, 0);
            assertFalse(client.connect(refusingAddress()));
            key.interestOps(SelectionKey.OP_CONNECT);
            assertEquals(1, selector.select(Wait.SECONDS * 1000));
            assertTrue(key.isConnectable());
            ConnectException e = assertThrows(ConnectException.class, client::finishConnect);
            assertEquals("Connection refused", e.getMessage());
            assertFalse(client.isOpen());
        }
    }

    @Test
    void refusedConnectInBlockingFinishConnectThrows() throws Exception {
        try (SocketChannel client = variant.open()) {
            client.configureBlocking(false);
            client.connect(refusingAddress());
            client.configureBlocking(true);
            assertThrows(ConnectException.class, client::finishConnect);
            assertFalse(client.isOpen());
        }
    }

    @Test
    void connectTwiceThrowsAlreadyConnected() throws Exception {
        try (ServerSocketChannel listener = variant.listen();
                Pair pair = variant.pair(listener)) {
            assertThrows(AlreadyConnectedException.class, () -> pair.client().connect(listener.getLocalAddress()));
            assertThrows(AlreadyConnectedException.class, () -> pair.server().connect(listener.getLocalAddress()));
            assertTrue(pair.client().isOpen());
            assertThrows(AlreadyBoundException.class, () -> pair.client().bind(null));
            assertThrows(AlreadyBoundException.class, () -> pair.server().bind(null));
        }
    }

    @Test
    void unconnectedChannelRefusesWhatNeedsAConnection() throws Exception {
        try (SocketChannel client = variant.open()) {
            assertThrows(NoConnectionPendingException.class, client::finishConnect);
            assertThrows(NotYetConnectedException.class, () -> client.read(ByteBuffer.allocate(1)));
            assertThrows(NotYetConnectedException.class, () -> client.write(ByteBuffer.allocate(1)));
            assertThrows(NotYetConnectedException.class, client::shutdownInput);
            assertThrows(NotYetConnectedException.class, client::shutdownOutput);
            assertNull(client.getRemoteAddress());
            assertFalse(client.isConnected());
            assertFalse(client.isConnectionPending());
        }
    }

    @Test
    void badAddressesAreRefusedAndLeaveTheChannelOpen() throws Exception {
        try (SocketChannel client = variant.open()) {
            assertThrows(NullPointerException.class, () -> client.connect(null));
            InetSocketAddress unresolved = InetSocketAddress.createUnresolved("no.such.host", 1);
            assertThrows(UnresolvedAddressException.class, () -> client.connect(unresolved));
            assertThrows(UnresolvedAddressException.class, () -> client.bind(unresolved));
            UnixDomainSocketAddress unix = UnixDomainSocketAddress.of("/nowhere");
            assertThrows(UnsupportedAddressTypeException.class, () -> client.connect(unix));
            assertThrows(UnsupportedAddressTypeException.class, () -> client.bind(unix));
            assertTrue(client.isOpen());
            assertFalse(client.isConnectionPending());
        }
    }

    @Test
    void ipv4ChannelRefusesIpv6Address() throws Exception {
        try (SocketChannel client = variant.provider().openSocketChannel(StandardProtocolFamily.INET)) {
            assertThrows(
                    UnsupportedAddressTypeException.class,
                    () -> client.connect(new InetSocketAddress(Variant.loopback6(), 1)));
            assertTrue(client.isOpen());
        }
    }

    @Test
    void channelsOfAFamilyConnect() throws Exception {
        try (ServerSocketChannel listener = variant.provider().openServerSocketChannel(StandardProtocolFamily.INET);
                SocketChannel client = variant.provider().openSocketChannel(StandardProtocolFamily.INET)) {
            listener.bind(new InetSocketAddress(Variant.loopback(), 0));
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                variant.checked(new Pair(client, server));
            }
        }
    }

    @Test
    void closedChannelRefusesEverything() throws Exception {
        SocketChannel client = variant.open();
        client.close();
        client.close();
        SocketAddress address = new InetSocketAddress(Variant.loopback(), 1);
        assertThrows(ClosedChannelException.class, () -> client.connect(address));
        assertThrows(ClosedChannelException.class, client::finishConnect);
        assertThrows(ClosedChannelException.class, () -> client.bind(null));
        assertThrows(ClosedChannelException.class, client::getLocalAddress);
        assertThrows(ClosedChannelException.class, client::getRemoteAddress);
        assertThrows(ClosedChannelException.class, client::shutdownInput);
        assertThrows(ClosedChannelException.class, () -> client.configureBlocking(false));
        assertFalse(client.isConnected());
    }

    @Test
    void closeWhilePendingIsQuiet() throws Exception {
        try (ServerSocketChannel listener = variant.listen()) {
            SocketChannel client = variant.open();
            client.configureBlocking(false);
            client.connect(listener.getLocalAddress());
            client.close();
            assertFalse(client.isConnectionPending());
            assertThrows(ClosedChannelException.class, client::finishConnect);
        }
    }

    @Test
    void connectedPortsAreFreeAgainAfterClose() throws Exception {
        SocketAddress bound;
        try (ServerSocketChannel listener = variant.listen()) {
            bound = listener.getLocalAddress();
        }
        try (ServerSocketChannel again = variant.provider().openServerSocketChannel()) {
            again.bind(bound);
            assertEquals(bound, again.getLocalAddress());
        }
    }
}
