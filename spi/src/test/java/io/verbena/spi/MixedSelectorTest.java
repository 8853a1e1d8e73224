package io.verbena.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.verbena.spi.Variant.Pair;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** One selector for sockets, datagrams, pipes and Unix-domain sockets together. */
@ParameterizedClass
@MethodSource("io.verbena.spi.Variant#all")
class MixedSelectorTest {
    private static final long LONG_MS = Wait.SECONDS * 1000;

    private final Variant variant;
    private Selector selector;

    MixedSelectorTest(Variant variant) {
        this.variant = variant;
    }

    @BeforeEach
    void open() throws Exception {
        selector = variant.selector();
    }

    @AfterEach
    void close() throws Exception {
        selector.close();
    }

    private DatagramChannel datagram() throws Exception {
        DatagramChannel channel = variant.provider().openDatagramChannel();
        channel.bind(new InetSocketAddress(Variant.loopback(), 0));
        channel.configureBlocking(false);
        return channel;
    }

    private static void send(DatagramChannel to) throws Exception {
        try (DatagramChannel from = DatagramChannel.open()) {
            from.send(ByteBuffer.allocate(1), to.getLocalAddress());
        }
    }

    private Pipe pipe() throws Exception {
        Pipe pipe = variant.provider().openPipe();
        pipe.source().configureBlocking(false);
        return pipe;
    }

    private static void close(Pipe pipe) throws Exception {
        pipe.source().close();
        pipe.sink().close();
    }

    @Test
    void everyKindOfChannelWakesTheSleepingSelector() throws Exception {
        Pipe pipe = pipe();
        try (Pair pair = variant.pair().nonBlocking();
                DatagramChannel datagram = datagram()) {
            SelectionKey socketKey = pair.client().register(selector, SelectionKey.OP_READ);
            SelectionKey pipeKey = pipe.source().register(selector, SelectionKey.OP_READ);
            SelectionKey datagramKey = datagram.register(selector, SelectionKey.OP_READ);
            ByteBuffer buffer = ByteBuffer.allocate(1);
            for (int i = 0; i < 30; i++) {
                Wait.Task<Integer> select =
                        Wait.start(i % 2 == 1, () -> selector.select()).blockedIn("select");
                SelectionKey expected;
                switch (i % 3) {
                    case 0 -> {
                        pair.server().write(buffer.clear());
                        expected = socketKey;
                    }
                    case 1 -> {
                        pipe.sink().write(buffer.clear());
                        expected = pipeKey;
                    }
                    default -> {
                        send(datagram);
                        expected = datagramKey;
                    }
                }
                assertEquals(1, select.get());
                assertTrue(selector.selectedKeys().remove(expected), expected + " in round " + i);
                int got = i % 3 == 0
                        ? pair.client().read(buffer.clear())
                        : i % 3 == 1 ? pipe.source().read(buffer.clear()) : 1;
                assertEquals(1, got);
                if (i % 3 == 2) {
                    assertNotNull(datagram.receive(buffer.clear()));
                }
                assertEquals(0, selector.selectNow());
            }
        } finally {
            close(pipe);
        }
    }

    @Test
    void wakeupInterruptAndTimeOutWorkWithAllKinds() throws Exception {
        Pipe pipe = pipe();
        try (Pair pair = variant.pair().nonBlocking();
                DatagramChannel datagram = datagram()) {
            pair.client().register(selector, SelectionKey.OP_READ);
            pipe.source().register(selector, SelectionKey.OP_READ);
            datagram.register(selector, SelectionKey.OP_READ);
            for (int i = 0; i < 10; i++) {
                Wait.Task<Integer> select =
                        Wait.start(i % 2 == 1, () -> selector.select()).blockedIn("select");
                selector.wakeup();
                assertEquals(0, select.get());
                Wait.Task<Boolean> interrupted = Wait.start(i % 2 == 1, () -> {
                    assertEquals(0, selector.select());
                    return Thread.currentThread().isInterrupted();
                });
                interrupted.blockedIn("select").thread.interrupt();
                assertTrue(interrupted.get());
            }
            long start = System.nanoTime();
            assertEquals(0, selector.select(30));
            assertTrue(System.nanoTime() - start >= 30_000_000);
        } finally {
            close(pipe);
        }
    }

    @Test
    void busySocketsDoNotStarveTheOthers() throws Exception {
        Pipe pipe = pipe();
        try (Pair pair = variant.pair().nonBlocking()) {
            pair.client().register(selector, SelectionKey.OP_READ);
            SelectionKey pipeKey = pipe.source().register(selector, SelectionKey.OP_READ);
            pair.server().write(ByteBuffer.allocate(1));
            assertEquals(1, selector.select(LONG_MS));
            pipe.sink().write(ByteBuffer.allocate(1));
            Wait.until("the pipe is selected beside a socket that is always ready", () -> {
                selector.selectedKeys().clear();
                selector.select();
                return selector.selectedKeys().contains(pipeKey);
            });
        } finally {
            close(pipe);
        }
    }

    @Test
    void unixDomainChannelsAreSelected(@TempDir Path directory) throws Exception {
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(directory.resolve("s"));
        try (ServerSocketChannel listener = variant.provider().openServerSocketChannel(StandardProtocolFamily.UNIX);
                SocketChannel client = variant.provider().openSocketChannel(StandardProtocolFamily.UNIX);
                Pair pair = variant.pair().nonBlocking()) {
            listener.bind(address);
            listener.configureBlocking(false);
            pair.client().register(selector, SelectionKey.OP_READ);
            SelectionKey key = listener.register(selector, SelectionKey.OP_ACCEPT);
            client.connect(address);
            assertEquals(1, selector.select(LONG_MS));
            assertTrue(key.isAcceptable());
            listener.accept().close();
            Files.delete(address.getPath());
        }
    }

    @Test
    void keysOfDatagramChannelsFollowTheRules() throws Exception {
        try (DatagramChannel datagram = datagram()) {
            SelectionKey key = datagram.register(selector, SelectionKey.OP_READ, "a");
            assertSame(datagram, key.channel());
            assertSame(selector, key.selector());
            assertEquals("a", key.attachment());
            assertSame(key, datagram.keyFor(selector));
            assertSame(key, datagram.register(selector, SelectionKey.OP_WRITE));
            assertEquals(1, selector.select(LONG_MS));
            assertTrue(key.isWritable());
            key.cancel();
            datagram.configureBlocking(true);
            datagram.configureBlocking(false);
            assertEquals(0, selector.selectNow());
            assertTrue(selector.keys().isEmpty());
            assertNull(datagram.keyFor(selector));
            assertFalse(datagram.isRegistered());
            send(datagram);
            datagram.register(selector, SelectionKey.OP_READ);
            assertEquals(1, selector.select(LONG_MS));
        }
    }

    @Test
    void channelsOfStrangersAreRefused() throws Exception {
        if (variant == Variant.JDK) {
            return; // the JDK's refuses ours, which is the same claim the other way round
        }
        try (Selector jdks = Variant.JDK.selector();
                SocketChannel ours = variant.open()) {
            ours.configureBlocking(false);
            assertThrows(IllegalSelectorException.class, () -> ours.register(jdks, 0));
        }
    }

    @Test
    void closeOfAnyChannelFreesItsDescriptorAtTheNextSelect() throws Exception {
        try (Pair warm = variant.pair().nonBlocking()) {
            warm.client().register(selector, SelectionKey.OP_READ);
            Pipe first = pipe();
            first.source().register(selector, SelectionKey.OP_READ);
            sleepOnce(selector);
            close(first);
            selector.selectNow();
            Wait.until("quiet", MixedSelectorTest::fdsAreSteady);
            long before = Wait.openFds();
            for (int i = 0; i < 5; i++) {
                openAndClose(i % 2 == 0);
            }
            Wait.untilEquals("descriptors", before, Wait::openFds);
        }
    }

    /** So that the selector has opened what it needs to sleep. */
    private static void sleepOnce(Selector selector) throws Exception {
        Wait.Task<Integer> select = Wait.start(() -> selector.select()).blockedIn("select");
        selector.wakeup();
        assertEquals(0, select.get());
    }

    private static boolean fdsAreSteady() throws Exception {
        long before = Wait.openFds();
        Thread.sleep(20);
        return before == Wait.openFds();
    }

    private void openAndClose(boolean cancelFirst) throws Exception {
        Pipe pipe = pipe();
        DatagramChannel datagram = datagram();
        Pair pair = variant.pair().nonBlocking();
        ServerSocketChannel listener = variant.listen();
        listener.configureBlocking(false);
        List<SelectionKey> keys = new ArrayList<>();
        keys.add(pipe.source().register(selector, SelectionKey.OP_READ));
        keys.add(datagram.register(selector, SelectionKey.OP_READ));
        keys.add(pair.client().register(selector, SelectionKey.OP_READ));
        keys.add(pair.server().register(selector, SelectionKey.OP_READ));
        keys.add(listener.register(selector, SelectionKey.OP_ACCEPT));
        selector.select(1);
        if (cancelFirst) {
            keys.forEach(SelectionKey::cancel);
        }
        close(pipe);
        datagram.close();
        pair.close();
        listener.close();
        assertEquals(0, selector.selectNow());
        assertEquals(1, selector.keys().size());
    }

    @Test
    void closeDuringAnotherThreadsSelectFreesTheDescriptorAfterIt() throws Exception {
        try (Pair warm = variant.pair().nonBlocking()) {
            warm.client().register(selector, SelectionKey.OP_READ);
            Pipe first = pipe();
            first.source().register(selector, SelectionKey.OP_READ);
            sleepOnce(selector);
            close(first);
            selector.selectNow();
            Wait.until("quiet", MixedSelectorTest::fdsAreSteady);
            long before = Wait.openFds();
            for (int i = 0; i < 20; i++) {
                Pipe pipe = pipe();
                SelectionKey key = pipe.source().register(selector, SelectionKey.OP_READ);
                Wait.Task<Integer> select = Wait.start(() -> selector.select()).blockedIn("select");
                if (i % 2 == 0) {
                    key.cancel();
                }
                close(pipe);
                selector.wakeup();
                assertEquals(0, select.get());
                assertEquals(0, selector.selectNow());
            }
            Wait.untilEquals("descriptors", before, Wait::openFds);
        }
    }

    @Test
    void closeOfTheSelectorFreesEverythingOfIt() throws Exception {
        Pipe pipe = pipe();
        try (Pair pair = variant.pair().nonBlocking()) {
            Wait.until("quiet", MixedSelectorTest::fdsAreSteady);
            long before = Wait.openFds();
            for (int i = 0; i < 5; i++) {
                try (Selector another = variant.selector()) {
                    pair.client().register(another, SelectionKey.OP_READ);
                    pipe.source().register(another, SelectionKey.OP_READ);
                    sleepOnce(another);
                }
                assertFalse(pair.client().isRegistered());
                assertFalse(pipe.source().isRegistered());
            }
            Wait.untilEquals("descriptors", before, Wait::openFds);
        } finally {
            close(pipe);
        }
    }
}
