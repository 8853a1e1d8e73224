package io.verbena.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.util.Collections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The RDMA CM of a real stack: addresses, private data, reject, options, migration. */
@Timeout(60)
class RealConnectionTest {
    private static final int OPTION_ID = 0;
    private static final int OPTION_TOS = 0;
    private static final int OPTION_REUSEADDR = 1;
    private static final int OPTION_ACK_TIMEOUT = 3;
    private static final int CONSUMER_REJECT = 28;

    private RdmaEventChannel channel;
    private RdmaEventChannel serverChannel;

    @BeforeEach
    void open() throws IOException {
        RealDevice.require();
        channel = Verbs.backend().createEventChannel();
        serverChannel = Verbs.backend().createEventChannel();
    }

    @AfterEach
    void close() throws IOException {
        if (serverChannel != null) {
            int unused = channel.destroyEventChannel();
            unused = serverChannel.destroyEventChannel();
        }
    }

    private static ByteBuffer bytes(int count, int seed) {
        ByteBuffer data = ByteBuffer.allocate(count);
        for (int i = 0; i < count; i++) {
            data.put(i, (byte) (seed + i));
        }
        return data;
    }

    private static InetSocketAddress source(RdmaCmId id) throws IOException {
        return (InetSocketAddress) id.getSource();
    }

    @Test
    void thePortZeroBecomesARealPort() throws Exception {
        RdmaCmId listener = Link.listen(serverChannel, TestAddress.port(0), 4);
        assertEquals(TestAddress.get(), source(listener).getAddress());
        assertTrue(source(listener).getPort() > 0);
        assertEquals(0, listener.destroyId());
    }

    @Test
    void aTakenPortIsABindException() throws Exception {
        RdmaCmId listener = Link.listen(serverChannel, TestAddress.port(0), 4);
        RdmaCmId second = serverChannel.createId(RdmaCm.RDMA_PS_TCP);
        InetSocketAddress taken = source(listener);
        var e = assertThrows(BindException.class, () -> {
            second.bindAddr(taken);
            second.listen(4);
        });
        assertTrue(e.getMessage().contains("EADDRINUSE"), e.getMessage());
        assertEquals(0, second.destroyId());
        assertEquals(0, listener.destroyId());
    }

    @Test
    void anAddressThatIsNotOursIsABindException() throws Exception {
        RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
        var e = assertThrows(BindException.class, () -> id.bindAddr(new InetSocketAddress("192.0.2.1", 0)));
        assertTrue(e.getMessage().contains("192.0.2.1"), e.getMessage());
        assertEquals(0, id.destroyId());
    }

    @Test
    void privateDataGoesBothWaysInFullLength() throws Exception {
        roundTrip(TestAddress.port(0), 56, 196);
    }

    @Test
    void ipv6ConnectsAndNamesBothEnds() throws Exception {
        InetAddress six = null;
        for (NetworkInterface nic : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            for (InetAddress a : Collections.list(nic.getInetAddresses())) {
                boolean onDevice = nic.equals(NetworkInterface.getByInetAddress(TestAddress.get()));
                if (onDevice && a instanceof Inet6Address && !a.isLinkLocalAddress()) {
                    six = InetAddress.getByAddress(a.getAddress());
                }
            }
        }
        assumeTrue(six != null, "the device's interface has no global IPv6 address");
        roundTrip(new InetSocketAddress(six, 0), 48, 32);
    }

    private void roundTrip(InetSocketAddress address, int requestBytes, int replyBytes) throws IOException {
        RdmaCmId listener = Link.listen(serverChannel, address, 4);
        var client = new Endpoint(
                channel, Endpoint.resolve(channel, source(listener)), Endpoint.Caps.DEFAULT.withRing(4096));
        client.id.connect(Endpoint.param(bytes(requestBytes, 3)));
        RdmaCmEvent request = Endpoint.expect(serverChannel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
        assertEquals(listener, request.getListenIdPriv());
        assertPrefix(bytes(requestBytes, 3), request);
        var server = new Endpoint(serverChannel, request.getConnIdPriv(), Endpoint.Caps.DEFAULT.withRing(4096));
        server.id.accept(Endpoint.param(bytes(replyBytes, 90)));
        RdmaCmEvent established = Endpoint.expect(channel, EventType.RDMA_CM_EVENT_ESTABLISHED);
        assertEquals(client.id, established.getConnIdPriv());
        assertPrefix(bytes(replyBytes, 90), established);
        assertEquals(source(listener), client.id.getDestination());
        assertEquals(source(listener), server.id.getSource());
        assertEquals(client.id.getSource(), server.id.getDestination());
        RdmaCmEvent unused = Endpoint.expect(serverChannel, EventType.RDMA_CM_EVENT_ESTABLISHED);
        client.close();
        unused = Endpoint.expect(serverChannel, EventType.RDMA_CM_EVENT_DISCONNECTED);
        server.close();
        assertEquals(0, listener.destroyId());
    }

    /** IB pads private data. */
    private static void assertPrefix(ByteBuffer expected, RdmaCmEvent event) {
        ByteBuffer got = ((ConnectionEvent) event).privateData();
        assertTrue(got.isReadOnly());
        assertTrue(got.remaining() >= expected.remaining(), got + " < " + expected);
        assertEquals(expected, got.slice(0, expected.remaining()));
    }

    @Test
    void rejectReachesTheClientWithItsPrivateData() throws Exception {
        RdmaCmId listener = Link.listen(serverChannel, TestAddress.port(0), 4);
        var client = new Endpoint(
                channel, Endpoint.resolve(channel, source(listener)), Endpoint.Caps.DEFAULT.withRing(4096));
        client.id.connect(Endpoint.param(bytes(12, 1)));
        RdmaCmEvent request = Endpoint.expect(serverChannel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
        ((ConnectionId) request.getConnIdPriv()).reject(bytes(20, 5));
        RdmaCmEvent rejected = Endpoint.expect(channel, EventType.RDMA_CM_EVENT_REJECTED);
        assertPrefix(bytes(20, 5), rejected);
        if (((Device) client.id.getVerbs()).hasWriteWithImm()) {
            assertEquals(CONSUMER_REJECT, rejected.getStatus());
        } else {
            assertTrue(rejected.getStatus() < 0, "status " + rejected.getStatus());
        }
        assertEquals(0, request.getConnIdPriv().destroyId());
        client.close();
        assertEquals(0, listener.destroyId());
    }

    @Test
    void whereNobodyListensTheAnswerComesAtOnce() throws Exception {
        RdmaCmId unused = Link.listen(serverChannel, TestAddress.port(0), 4);
        InetSocketAddress port = source(unused);
        assertEquals(0, unused.destroyId());
        var client = new Endpoint(channel, Endpoint.resolve(channel, port), Endpoint.Caps.DEFAULT.withRing(4096));
        try {
            client.id.connect(Endpoint.param(bytes(12, 1)));
            RdmaCmEvent rejected = Endpoint.expect(channel, EventType.RDMA_CM_EVENT_REJECTED);
            assertTrue(rejected.getStatus() != 0);
        } catch (ConnectException e) { // siw tells by rdma_connect itself
            assertTrue(e.getMessage().contains("ECONNREFUSED"), e.getMessage());
        }
        client.close();
    }

    @Test
    void optionsAreTakenAndUnknownOnesAreNamed() throws Exception {
        RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
        var options = (ConnectionId) id;
        options.setOption(OPTION_ID, OPTION_REUSEADDR, 1);
        options.setOption(OPTION_ID, OPTION_TOS, 0x10);
        options.setOption(OPTION_ID, OPTION_ACK_TIMEOUT, 14);
        var e = assertThrows(IOException.class, () -> options.setOption(OPTION_ID, 99, 1));
        assertTrue(e.getMessage().contains("name=99"), e.getMessage());
        assertEquals(0, id.destroyId());
    }

    @Test
    void aMigratedIdDeliversItsEventsToTheNewChannel() throws Exception {
        RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
        ((ConnectionId) id).migrate(serverChannel);
        assertEquals(serverChannel, id.getCmChannel());
        id.resolveAddr(null, TestAddress.port(9), 1000);
        RdmaCmEvent resolved = Endpoint.expect(serverChannel, EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
        assertEquals(id, resolved.getConnIdPriv());
        assertNull(channel.getCmEvent(0));
        assertNotNull(id.getVerbs());
        assertEquals(0, id.destroyId());
    }

    @Test
    void waitingForAnEventEndsAtItsTimeOut() throws Exception {
        long start = System.nanoTime();
        assertNull(channel.getCmEvent(150));
        long ms = (System.nanoTime() - start) / 1_000_000;
        assertTrue(ms >= 150 && ms < 2_000, ms + " ms");
    }

    @Test
    void aDestroyedIdRefusesEveryCallAndIsDestroyedOnce() throws Exception {
        RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
        assertEquals(0, id.destroyId());
        assertEquals(0, id.destroyId());
        assertThrows(IOException.class, () -> id.listen(1));
        assertThrows(IOException.class, id::disconnect);
        assertThrows(IOException.class, id::getSource);
    }
}
