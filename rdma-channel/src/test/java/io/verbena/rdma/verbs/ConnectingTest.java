package io.verbena.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.verbena.rdma.sys.Epoll;
import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Setting up, refusing and ending connections. */
@Timeout(30)
class ConnectingTest {
    private static ByteBuffer bytes(int n) {
        ByteBuffer b = ByteBuffer.allocate(n);
        for (int i = 0; i < n; i++) {
            b.put(i, (byte) (i + 1));
        }
        return b;
    }

    private static ByteBuffer privateData(RdmaCmEvent event) {
        return ((ConnectionEvent) event).privateData();
    }

    private static InetSocketAddress loopback(int port) {
        return TestAddress.port(port);
    }

    private static RdmaEventChannel channel() throws IOException {
        return Verbs.backend().createEventChannel();
    }

    private static Endpoint connecting(RdmaEventChannel channel, InetSocketAddress to, int dataBytes)
            throws IOException {
        Endpoint end = new Endpoint(channel, Endpoint.resolve(channel, to), Endpoint.Caps.DEFAULT);
        end.id.connect(Endpoint.param(bytes(dataBytes)));
        return end;
    }

    /** The status of the ADDR_ERROR that resolving an address gives. */
    private static int addressError(InetSocketAddress to) throws IOException {
        RdmaEventChannel channel = channel();
        RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
        id.resolveAddr(null, to, 1000);
        int status =
                Endpoint.expect(channel, EventType.RDMA_CM_EVENT_ADDR_ERROR).getStatus();
        int unused = id.destroyId();
        unused = channel.destroyEventChannel();
        return status;
    }

    @Test
    void privateDataOf56And196BytesGoesBothWays() throws Exception {
        RdmaEventChannel channel = channel();
        try (Server server = new Server();
                Endpoint client = connecting(channel, loopback(server.port()), 56)) {
            RdmaCmEvent request = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
            assertEquals(bytes(56), privateData(request));
            assertSame(server.listener, request.getListenIdPriv());
            try (Endpoint end = new Endpoint(server.channel, request.getConnIdPriv(), Endpoint.Caps.DEFAULT)) {
                end.id.accept(Endpoint.param(bytes(196)));
                RdmaCmEvent established = Endpoint.expect(channel, EventType.RDMA_CM_EVENT_ESTABLISHED);
                assertEquals(bytes(196), privateData(established));
                assertSame(client.id, established.getConnIdPriv());
                RdmaCmEvent ready = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_ESTABLISHED);
                assertSame(end.id, ready.getConnIdPriv());
                assertEquals(client.id.getSource(), end.id.getDestination());
                assertEquals(client.id.getDestination(), end.id.getSource());
                assertEquals(loopback(server.port()), end.id.getSource());
            }
        }
    }

    @Test
    void tooMuchPrivateDataIsRefusedWithTheLimit() throws Exception {
        RdmaEventChannel channel = channel();
        try (Server server = new Server()) {
            IOException e = assertThrows(IOException.class, () -> connecting(channel, loopback(server.port()), 57));
            assertTrue(e.getMessage().contains("56"), e.getMessage());
            try (Endpoint client = connecting(channel, loopback(server.port()), 0)) {
                RdmaCmEvent request = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
                try (Endpoint end = new Endpoint(server.channel, request.getConnIdPriv(), Endpoint.Caps.DEFAULT)) {
                    e = assertThrows(IOException.class, () -> end.id.accept(Endpoint.param(bytes(197))));
                    assertTrue(e.getMessage().contains("196"), e.getMessage());
                    assertEquals(loopback(server.port()), client.id.getDestination());
                }
            }
        }
    }

    @Test
    void aRejectCarriesItsReason() throws Exception {
        RdmaEventChannel channel = channel();
        try (Server server = new Server();
                Endpoint client = connecting(channel, loopback(server.port()), 1)) {
            RdmaCmEvent request = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
            ConnectionId id = (ConnectionId) request.getConnIdPriv();
            assertThrows(IOException.class, () -> id.reject(bytes(149)));
            id.reject(bytes(148));
            int unused = request.getConnIdPriv().destroyId();
            RdmaCmEvent rejected = Endpoint.expect(channel, EventType.RDMA_CM_EVENT_REJECTED);
            assertSame(client.id, rejected.getConnIdPriv());
            assertEquals(28, rejected.getStatus());
            assertEquals(bytes(148), privateData(rejected));
        }
    }

    @Test
    void aClientDestroyedBeforeItReadTheAnswerIsNeverEstablishedAtTheServer() throws Exception {
        RdmaEventChannel channel = channel();
        try (Server server = new Server()) {
            Endpoint client = connecting(channel, loopback(server.port()), 1);
            RdmaCmEvent request = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
            try (Endpoint end = new Endpoint(server.channel, request.getConnIdPriv(), Endpoint.Caps.DEFAULT)) {
                end.id.accept(null);
                client.close();
                RdmaCmEvent event = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_REJECTED);
                assertSame(end.id, event.getConnIdPriv());
                assertEquals(-Errno.ECONNRESET, event.getStatus());
            }
        }
    }

    @Test
    void acceptFailsIfTheClientIsGone() throws Exception {
        RdmaEventChannel channel = channel();
        try (Server server = new Server()) {
            Endpoint client = connecting(channel, loopback(server.port()), 1);
            RdmaCmEvent request = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
            client.close();
            int unused = channel.destroyEventChannel();
            try (Endpoint end = new Endpoint(server.channel, request.getConnIdPriv(), Endpoint.Caps.DEFAULT)) {
                assertThrows(IOException.class, () -> end.id.accept(null));
            }
        }
    }

    @Test
    void aListenerThatGoesAwayRefusesWhoWaits() throws Exception {
        RdmaEventChannel channel = channel();
        Server server = new Server();
        Endpoint client = connecting(channel, loopback(server.port()), 1);
        server.close();
        RdmaCmEvent event = Endpoint.expect(channel, EventType.RDMA_CM_EVENT_REJECTED);
        assertEquals(-Errno.ECONNRESET, event.getStatus());
        client.close();
    }

    @Test
    void nobodyListening() throws Exception {
        int port;
        try (ServerSocketChannel free = ServerSocketChannel.open().bind(loopback(0))) {
            port = free.socket().getLocalPort();
            assertEquals(-Errno.ECONNREFUSED, addressError(loopback(port)), "a plain TCP listener");
        }
        assertEquals(-Errno.ECONNREFUSED, addressError(loopback(port)), "no listener");
    }

    @Test
    void anAddressOfAnotherHost() throws Exception {
        try (Server server = new Server(new InetSocketAddress(0), 1)) {
            assertEquals(
                    -Errno.ENETUNREACH,
                    addressError(new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), server.port())),
                    "a wildcard listener's port on another host");
        }
    }

    @Test
    void listeningNeedsTheTcpListenerOfThisProcess() throws Exception {
        RdmaEventChannel channel = channel();
        IOException e = assertThrows(IOException.class, () -> Link.listen(channel, loopback(1), 1));
        assertTrue(e.getMessage().contains("no TCP listener"), e.getMessage());
        try (Server server = new Server()) {
            e = assertThrows(IOException.class, () -> Link.listen(channel, loopback(server.port()), 1));
            assertTrue(e.getMessage().contains("EADDRINUSE"), e.getMessage());
        }
        int unused = channel.destroyEventChannel();
    }

    @Test
    void aFullBacklogRefusesAndServesTheOthersLater() throws Exception {
        RdmaEventChannel channel = channel();
        try (Server server = new Server(loopback(0), 2)) {
            List<Endpoint> clients = new ArrayList<>();
            int refused = 0;
            while (refused == 0 && clients.size() < 50) {
                RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
                id.resolveAddr(null, loopback(server.port()), 1000);
                RdmaCmEvent event = channel.getCmEvent(1000);
                if (event.getEvent() == EventType.RDMA_CM_EVENT_ADDR_RESOLVED.ordinal()) {
                    Endpoint client = new Endpoint(channel, id, Endpoint.Caps.DEFAULT);
                    client.id.connect(Endpoint.param(client.describeRing()));
                    clients.add(client);
                } else {
                    assertEquals(-Errno.EAGAIN, event.getStatus());
                    int unused = id.destroyId();
                    refused++;
                }
            }
            assertEquals(1, refused);
            for (Endpoint client : clients) {
                RdmaCmEvent request = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
                ((ConnectionId) request.getConnIdPriv()).reject(bytes(1));
                int unused = request.getConnIdPriv().destroyId();
                assertSame(
                        client.id,
                        Endpoint.expect(channel, EventType.RDMA_CM_EVENT_REJECTED)
                                .getConnIdPriv());
                client.close();
            }
        }
    }

    private static void connectTo(Server server, InetSocketAddress to) throws IOException {
        RdmaEventChannel channel = channel();
        try (Endpoint client = new Endpoint(channel, Endpoint.resolve(channel, to), Endpoint.Caps.DEFAULT)) {
            client.id.connect(Endpoint.param(client.describeRing()));
            try (Endpoint end = acceptInto(server, channel)) {
                assertEquals(to, end.id.getSource());
                assertEquals(to, client.id.getDestination());
            }
        }
        while (channel.getCmEvent(0) != null || server.channel.getCmEvent(0) != null) {}
        int unused = channel.destroyEventChannel();
    }

    private static Endpoint acceptInto(Server server, RdmaEventChannel clients) throws IOException {
        RdmaCmEvent request = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
        Endpoint end = new Endpoint(server.channel, request.getConnIdPriv(), Endpoint.Caps.DEFAULT);
        end.id.accept(Endpoint.param(end.describeRing()));
        RdmaCmEvent unused = Endpoint.expect(clients, EventType.RDMA_CM_EVENT_ESTABLISHED);
        unused = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_ESTABLISHED);
        return end;
    }

    @Test
    void aWildcardListenerIsFoundUnderEveryLocalAddressOfBothFamilies() throws Exception {
        try (Server server = new Server(new InetSocketAddress(0), 16)) {
            connectTo(server, new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), server.port()));
            connectTo(server, new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), server.port()));
            for (InetAddress address : localAddresses()) {
                connectTo(server, new InetSocketAddress(address, server.port()));
            }
        }
    }

    private static List<InetAddress> localAddresses() throws IOException {
        return NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .toList();
    }

    @Test
    void anIpv6Listener() throws Exception {
        assumeTrue(localAddresses().contains(InetAddress.ofLiteral("::1")), "missing capability: IPv6 on the loopback");
        InetSocketAddress address = new InetSocketAddress(InetAddress.ofLiteral("::1"), 0);
        try (Server server = new Server(address, 16)) {
            connectTo(server, new InetSocketAddress(InetAddress.ofLiteral("::1"), server.port()));
            assertEquals(-Errno.ECONNREFUSED, addressError(loopback(server.port())), "::1 is not 127.0.0.1");
        }
    }

    @Test
    void anIpv4OnlyListener() throws Exception {
        try (ServerSocketChannel twin =
                ServerSocketChannel.open(StandardProtocolFamily.INET).bind(loopback(0))) {
            RdmaEventChannel channel = channel();
            RdmaCmId listener = Link.listen(channel, (InetSocketAddress) twin.getLocalAddress(), 4);
            RdmaCmId id = Endpoint.resolve(channel, (InetSocketAddress) twin.getLocalAddress());
            int unused = id.destroyId();
            unused = listener.destroyId();
            unused = channel.destroyEventChannel();
        }
    }

    @Test
    void severalListenersShareAPort() throws Exception {
        try (ServerSocketChannel first = ServerSocketChannel.open();
                ServerSocketChannel second = ServerSocketChannel.open()) {
            for (ServerSocketChannel twin : List.of(first, second)) {
                ServerSocketChannel unused = twin.setOption(StandardSocketOptions.SO_REUSEPORT, true);
            }
            ServerSocketChannel unused = first.bind(loopback(0));
            unused = second.bind(first.getLocalAddress());
            RdmaEventChannel channel = channel();
            RdmaCmId one = Link.listen(channel, (InetSocketAddress) first.getLocalAddress(), 4);
            RdmaCmId two = Link.listen(channel, (InetSocketAddress) first.getLocalAddress(), 4);
            RdmaCmId id = Endpoint.resolve(channel, (InetSocketAddress) first.getLocalAddress());
            for (RdmaCmId each : List.of(id, one, two)) {
                int ignored = each.destroyId();
            }
            int ignored = channel.destroyEventChannel();
        }
    }

    @Test
    void theChannelsDescriptorIsReadableWhileAnEventWaits() throws Exception {
        RdmaEventChannel channel = channel();
        try (Server server = new Server();
                Epoll epoll = new Epoll()) {
            epoll.add(channel.getFd(), Linux.EPOLLIN);
            assertEquals(0, epoll.await(0));
            RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
            id.resolveAddr(null, loopback(server.port()), 1000);
            assertEquals(1, epoll.await(0));
            RdmaCmEvent unused = Endpoint.expect(channel, EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
            assertEquals(0, epoll.await(0));
            assertNull(channel.getCmEvent(0));
            assertNull(channel.getCmEvent(20));
            int ignored = id.destroyId();
        }
    }

    @Test
    void anIdMovesToAnotherChannelWithItsEvents() throws Exception {
        RdmaEventChannel first = channel();
        RdmaEventChannel second = channel();
        try (Server server = new Server()) {
            RdmaCmId id = first.createId(RdmaCm.RDMA_PS_TCP);
            id.resolveAddr(null, loopback(server.port()), 1000);
            ((ConnectionId) id).migrate(second);
            assertNull(first.getCmEvent(0));
            RdmaCmEvent unused = Endpoint.expect(second, EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
            try (Endpoint client = new Endpoint(second, id, Endpoint.Caps.DEFAULT)) {
                client.id.connect(Endpoint.param(client.describeRing()));
                ((ConnectionId) id).migrate(first);
                try (Endpoint end = acceptInto(server, first)) {
                    ((ConnectionId) id).migrate(second);
                    int ignored = end.id.disconnect();
                    unused = Endpoint.expect(second, EventType.RDMA_CM_EVENT_DISCONNECTED);
                    assertNull(first.getCmEvent(0));
                }
            }
        }
    }
}
