package io.verbena.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** From a stream's connect that fails, late, to TCP within the same connect. */
class FallBackTest {
    private static final long LONG_MS = Wait.SECONDS * 1000;

    private final FakeFabric fabric = new FakeFabric();
    private ServerSocketChannel listener;
    private SocketAddress address;
    private SocketChannel client;
    private Selector selector;

    @BeforeEach
    void open() throws Exception {
        RdmaSelectorProvider provider = fabric.provider();
        listener = provider.openServerSocketChannel().bind(new InetSocketAddress(Variant.loopback(), 0));
        address = listener.getLocalAddress();
        client = provider.openSocketChannel();
        selector = provider.openSelector();
    }

    @AfterEach
    void close() throws Exception {
        selector.close();
        client.close();
        listener.close();
    }

    private void assertTcp() throws Exception {
        assertTrue(client.toString().contains("via tcp"), client::toString);
        try (SocketChannel server = listener.accept()) {
            assertEquals(client.getLocalAddress(), server.getRemoteAddress());
        }
    }

    private SelectionKey beginNonBlocking() throws Exception {
        client.configureBlocking(false);
        SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
        assertFalse(client.connect(address));
        return key;
    }

    @Test
    void blockingConnectGoesOverTcpWhenTheStreamFails() throws Exception {
        for (boolean virtual : new boolean[] {false, true}) {
            client.close();
            client = fabric.provider().openSocketChannel();
            long before = VerbenaStats.get("reason.REJECTED");
            Wait.Task<Boolean> connect =
                    Wait.start(virtual, () -> client.connect(address)).blockedIn("connect");
            FakeFabric.Connect stream = fabric.next();
            assertTrue(client.isConnectionPending());
            stream.fail();
            assertTrue(connect.get());
            assertTrue(stream.isReleased());
            assertFalse(stream.isCancelled());
            assertEquals(before + 1, VerbenaStats.get("reason.REJECTED"));
            assertTcp();
        }
    }

    @Test
    void streamIsOfferedALocalAddressAsTcpWouldShowIt() throws Exception {
        client.setOption(StandardSocketOptions.SO_RCVBUF, 300_000);
        beginNonBlocking();
        FakeFabric.Connect stream = fabric.next();
        assertEquals(Variant.loopback(), stream.local.getAddress());
        assertNotEquals(0, stream.local.getPort());
        assertEquals(512 << 10, stream.ringBytes, "the next power of two");
        assertNull(client.getLocalAddress(), "not known while pending, as with TCP");
    }

    @Test
    void sleepingSelectorCarriesOnWithTcpAndReportsItsOutcomeOnly() throws Exception {
        for (boolean virtual : new boolean[] {false, true}) {
            client.close();
            client = fabric.provider().openSocketChannel();
            SelectionKey key = beginNonBlocking();
            Wait.Task<Integer> select =
                    Wait.start(virtual, () -> selector.select()).blockedIn("select");
            FakeFabric.Connect stream = fabric.next();
            assertFalse(client.finishConnect());
            stream.fail();
            assertEquals(1, select.get());
            assertTrue(key.isConnectable());
            assertTrue(client.finishConnect());
            assertTcp();
            selector.selectedKeys().clear();
            key.interestOps(SelectionKey.OP_WRITE);
            assertEquals(1, selector.select(LONG_MS));
        }
    }

    @Test
    void finishConnectByAnotherThreadMovesASleepingSelectorToTcp() throws Exception {
        beginNonBlocking();
        Wait.Task<Integer> select = Wait.start(() -> selector.select()).blockedIn("select");
        fabric.next().fail();
        Wait.until("connected", client::finishConnect);
        selector.wakeup();
        select.get();
        assertTcp();
    }

    @Test
    void refusedByBothIsConnectionRefused() throws Exception {
        listener.close();
        SelectionKey key = beginNonBlocking();
        fabric.next().fail();
        assertEquals(1, selector.select(LONG_MS));
        assertTrue(key.isConnectable());
        ConnectException e = assertThrows(ConnectException.class, client::finishConnect);
        assertEquals("Connection refused", e.getMessage());
        assertFalse(client.isOpen());
    }

    @Test
    void finishConnectInBlockingModeWaitsForBoth() throws Exception {
        client.configureBlocking(false);
        assertFalse(client.connect(address));
        client.configureBlocking(true);
        Wait.Task<Boolean> finish = Wait.start(() -> client.finishConnect()).blockedIn("finishConnect");
        fabric.next().fail();
        assertTrue(finish.get());
        assertTrue(client.isBlocking());
        assertTcp();
    }

    @Test
    void programsPortIsKept() throws Exception {
        client.bind(new InetSocketAddress(Variant.loopback(), 0));
        SocketAddress bound = client.getLocalAddress();
        Wait.Task<Boolean> connect = Wait.start(() -> client.connect(address)).blockedIn("connect");
        FakeFabric.Connect stream = fabric.next();
        assertEquals(bound, stream.local);
        stream.fail();
        assertTrue(connect.get());
        assertEquals(bound, client.getLocalAddress());
        assertTcp();
    }

    @Test
    void closeCancelsAPendingConnect() throws Exception {
        for (boolean virtual : new boolean[] {false, true}) {
            client = fabric.provider().openSocketChannel();
            Wait.Task<Boolean> connect =
                    Wait.start(virtual, () -> client.connect(address)).blockedIn("connect");
            client.close();
            assertEquals(AsynchronousCloseException.class, connect.failure().getClass());
            assertTrue(fabric.next().isCancelled());
        }
    }

    @Test
    void interruptCancelsAPendingConnect() throws Exception {
        for (boolean virtual : new boolean[] {false, true}) {
            client = fabric.provider().openSocketChannel();
            Wait.Task<Boolean> connect =
                    Wait.start(virtual, () -> client.connect(address)).blockedIn("connect");
            connect.thread.interrupt();
            assertEquals(ClosedByInterruptException.class, connect.failure().getClass());
            assertFalse(client.isOpen());
            assertTrue(fabric.next().isCancelled());
        }
    }

    @Test
    void closeOfARegisteredPendingChannelFreesItsDescriptors() throws Exception {
        beginNonBlocking();
        fabric.next();
        assertEquals(0, selector.select(1));
        client.close();
        assertEquals(0, selector.selectNow());
        long before = Wait.openFds();
        for (int i = 0; i < 10; i++) {
            client = fabric.provider().openSocketChannel();
            beginNonBlocking();
            assertEquals(0, selector.select(1));
            client.close();
            assertTrue(fabric.next().isCancelled());
            assertEquals(0, selector.selectNow());
            assertTrue(selector.keys().isEmpty());
        }
        Wait.untilEquals("descriptors", before, Wait::openFds);
    }

    @Test
    void connectOfTheAdaptorTimesOut() throws Exception {
        long start = System.nanoTime();
        SocketTimeoutException e =
                assertThrows(SocketTimeoutException.class, () -> client.socket().connect(address, 40));
        assertEquals("Connect timed out", e.getMessage());
        assertTrue(System.nanoTime() - start >= 40_000_000);
        assertFalse(client.isOpen());
        assertTrue(fabric.next().isCancelled());
    }

    @Test
    void listenerWithoutStreamsIsATcpListener() throws Exception {
        try (SocketChannel plain = Variant.JDK.open()) {
            plain.connect(address);
            try (SocketChannel server = listener.accept()) {
                assertTrue(server.toString().contains("via tcp"), server::toString);
            }
        }
    }
}
