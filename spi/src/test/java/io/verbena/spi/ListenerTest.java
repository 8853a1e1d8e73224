package io.verbena.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.verbena.spi.Variant.Pair;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** ServerSocketChannel, also with clients of the other kind. */
@ParameterizedClass
@MethodSource("io.verbena.spi.Variant#all")
class ListenerTest {
    private final Variant variant;

    ListenerTest(Variant variant) {
        this.variant = variant;
    }

    @Test
    void connectionsAreAcceptedInTheOrderTheyWereMade() throws Exception {
        List<SocketChannel> clients = new ArrayList<>();
        try (ServerSocketChannel listener = variant.listen()) {
            for (int i = 0; i < 10; i++) {
                SocketChannel client = variant.open();
                clients.add(client);
                client.connect(listener.getLocalAddress());
            }
            for (SocketChannel client : clients) {
                try (SocketChannel server = listener.accept()) {
                    assertEquals(client.getLocalAddress(), server.getRemoteAddress());
                }
            }
        } finally {
            for (SocketChannel client : clients) {
                client.close();
            }
        }
    }

    @Test
    void blockedAcceptGetsAClient() throws Exception {
        for (boolean virtual : new boolean[] {false, true}) {
            for (Variant other : List.of(variant, Variant.JDK)) {
                try (ServerSocketChannel listener = variant.listen();
                        SocketChannel client = other.open()) {
                    Wait.Task<SocketChannel> acceptor =
                            Wait.start(virtual, listener::accept).blockedIn("accept");
                    client.connect(listener.getLocalAddress());
                    try (SocketChannel server = acceptor.get()) {
                        assertEquals(client.getLocalAddress(), server.getRemoteAddress());
                    }
                }
            }
        }
    }

    @Test
    void plainTcpClientTalksToOurListener() throws Exception {
        try (ServerSocketChannel listener = variant.listen();
                SocketChannel client = Variant.JDK.open()) {
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                client.write(ByteBuffer.wrap(new byte[] {1}));
                ByteBuffer buffer = ByteBuffer.allocate(10);
                assertEquals(1, server.read(buffer));
                server.write(buffer.flip());
                assertEquals(1, client.read(buffer.clear()));
                client.shutdownOutput();
                assertEquals(-1, server.read(buffer.clear()));
            }
        }
    }

    @Test
    void ourClientTalksToAPlainTcpListener() throws Exception {
        try (ServerSocketChannel listener = Variant.JDK.listen();
                SocketChannel client = variant.open()) {
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                assertEquals(client.getLocalAddress(), server.getRemoteAddress());
                client.write(ByteBuffer.wrap(new byte[] {1}));
                ByteBuffer buffer = ByteBuffer.allocate(10);
                assertEquals(1, server.read(buffer));
                server.write(buffer.flip());
                assertEquals(1, client.read(buffer.clear()));
            }
        }
    }

    @Test
    void ourNonBlockingClientTalksToAPlainTcpListener() throws Exception {
        try (ServerSocketChannel listener = Variant.JDK.listen();
                SocketChannel client = variant.open();
                var selector = variant.selector()) {
            client.configureBlocking(false);
            var key = client.register(selector, 0);
            if (!client.connect(listener.getLocalAddress())) {
                key.interestOps(java.nio.channels.SelectionKey.OP_CONNECT);
                assertEquals(1, selector.select(Wait.SECONDS * 1000));
                assertTrue(client.finishConnect());
            }
            key.interestOps(java.nio.channels.SelectionKey.OP_READ);
            try (SocketChannel server = listener.accept()) {
                server.write(ByteBuffer.allocate(3));
                selector.selectedKeys().clear();
                assertEquals(1, selector.select(Wait.SECONDS * 1000));
                assertEquals(3, client.read(ByteBuffer.allocate(10)));
            }
        }
    }

    @Test
    void programBoundClientFallsBackToTcpWithItsPort() throws Exception {
        try (ServerSocketChannel listener = Variant.JDK.listen();
                SocketChannel client = variant.open()) {
            client.bind(new InetSocketAddress(Variant.loopback(), 0));
            SocketAddress bound = client.getLocalAddress();
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                assertEquals(bound, server.getRemoteAddress());
                assertEquals(bound, client.getLocalAddress());
            }
        }
    }

    @Test
    void bothKindsOfClientTakeTurns() throws Exception {
        int each = 5;
        List<SocketChannel> clients = new ArrayList<>();
        try (ServerSocketChannel listener = variant.listen()) {
            for (int i = 0; i < each; i++) {
                for (Variant kind : List.of(variant, Variant.JDK)) {
                    SocketChannel client = kind.open();
                    clients.add(client);
                    client.connect(listener.getLocalAddress());
                }
            }
            List<SocketAddress> accepted = new ArrayList<>();
            for (int i = 0; i < 2 * each; i++) {
                try (SocketChannel server = listener.accept()) {
                    accepted.add(server.getRemoteAddress());
                }
            }
            List<List<SocketAddress>> connected = List.of(new ArrayList<>(), new ArrayList<>());
            for (int i = 0; i < clients.size(); i++) {
                connected.get(i % 2).add(clients.get(i).getLocalAddress());
            }
            for (List<SocketAddress> kind : connected) {
                assertEquals(kind, accepted.stream().filter(kind::contains).toList(), "first in, first out");
                assertTrue(accepted.subList(0, 4).stream().anyMatch(kind::contains), "no kind waits for the other");
            }
        } finally {
            for (SocketChannel client : clients) {
                client.close();
            }
        }
    }

    @Test
    void nonBlockingAcceptWithoutAClientGivesNull() throws Exception {
        try (ServerSocketChannel listener = variant.listen()) {
            listener.configureBlocking(false);
            assertNull(listener.accept());
            listener.configureBlocking(true);
            Wait.Task<SocketChannel> acceptor = Wait.start(listener::accept).blockedIn("accept");
            try (SocketChannel client = variant.open()) {
                client.connect(listener.getLocalAddress());
                acceptor.get().close();
            }
        }
    }

    @Test
    void bindTakesARealPortThatNobodyElseGets() throws Exception {
        try (ServerSocketChannel listener = variant.listen()) {
            SocketAddress address = listener.getLocalAddress();
            assertTrue(((InetSocketAddress) address).getPort() > 0);
            for (Variant other : List.of(variant, Variant.JDK)) {
                try (ServerSocketChannel second = other.provider().openServerSocketChannel()) {
                    BindException e = assertThrows(BindException.class, () -> second.bind(address));
                    assertEquals("Address already in use", e.getMessage());
                }
            }
        }
    }

    @Test
    void bindNullTakesAnyAddress() throws Exception {
        try (ServerSocketChannel listener = variant.provider().openServerSocketChannel()) {
            assertNull(listener.getLocalAddress());
            listener.bind(null);
            InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
            assertTrue(address.getAddress().isAnyLocalAddress());
            assertThrows(AlreadyBoundException.class, () -> listener.bind(null));
        }
    }

    @Test
    @SuppressWarnings("try") // close is part of what is tested
    void wrongUseIsRefused() throws Exception {
        try (ServerSocketChannel listener = variant.provider().openServerSocketChannel()) {
            assertThrows(NotYetBoundException.class, listener::accept);
            assertThrows(
                    UnresolvedAddressException.class,
                    () -> listener.bind(InetSocketAddress.createUnresolved("no.such.host", 1)));
            assertThrows(
                    UnsupportedAddressTypeException.class, () -> listener.bind(UnixDomainSocketAddress.of("/nowhere")));
            listener.close();
            assertThrows(ClosedChannelException.class, listener::accept);
            assertThrows(ClosedChannelException.class, () -> listener.bind(null));
            assertThrows(ClosedChannelException.class, listener::getLocalAddress);
            assertFalse(listener.isOpen());
        }
    }

    @Test
    void connectionsNotAcceptedAreResetByClose() throws Exception {
        ServerSocketChannel listener = variant.listen();
        try (SocketChannel client = variant.open()) {
            client.connect(listener.getLocalAddress());
            listener.close();
            assertThrows(java.io.IOException.class, () -> client.read(ByteBuffer.allocate(1)));
        }
    }

    @Test
    void manyConnectionsLeaveNoDescriptor() throws Exception {
        try (ServerSocketChannel listener = variant.listen()) {
            for (int round = 0; round < 2; round++) {
                for (int i = 0; i < 50; i++) {
                    Pair pair = variant.pair(listener);
                    pair.client().close();
                    pair.server().close();
                }
                long before = Wait.openFds();
                for (int i = 0; i < 50; i++) {
                    variant.pair(listener).close();
                }
                if (round == 1) {
                    Wait.until("no more descriptors than before", () -> Wait.openFds() <= before);
                }
            }
        }
    }

    @Test
    void acceptWaitersLeaveNoDescriptor() throws Exception {
        long before = 0;
        for (int i = 0; i < 6; i++) {
            ServerSocketChannel listener = variant.listen();
            Wait.Task<SocketChannel> acceptor =
                    Wait.start(i % 2 == 0, listener::accept).blockedIn("accept");
            listener.close();
            acceptor.failure();
            if (i == 1) {
                before = Wait.openFds();
            }
        }
        long expected = before;
        Wait.until("no more descriptors than before", () -> Wait.openFds() <= expected);
    }
}
