package io.verbena.spi;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.verbena.spi.Variant.Pair;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Selector and SelectionKey, with channels of the same provider. */
@ParameterizedClass
@MethodSource("io.verbena.spi.Variant#all")
class SelectorTest {
    private static final long LONG_MS = Wait.SECONDS * 1000;

    private final Variant variant;
    private Selector selector;
    private Pair pair;

    SelectorTest(Variant variant) {
        this.variant = variant;
    }

    @BeforeEach
    void open() throws Exception {
        selector = variant.selector();
        pair = variant.pair().nonBlocking();
    }

    @AfterEach
    void close() throws Exception {
        selector.close();
        pair.close();
    }

    private SelectionKey register(int ops) throws Exception {
        return pair.client().register(selector, ops);
    }

    private void makeReadable() throws Exception {
        assertEquals(1, pair.server().write(ByteBuffer.allocate(1)));
    }

    private int readOne() throws Exception {
        return pair.client().read(ByteBuffer.allocate(1));
    }

    // --- readiness

    @Test
    void dataMakesAChannelReadableUntilItIsRead() throws Exception {
        SelectionKey key = register(SelectionKey.OP_READ);
        assertEquals(0, selector.selectNow());
        makeReadable();
        for (int i = 0; i < 200; i++) {
            assertEquals(1, selector.select(LONG_MS), "level-triggered, round " + i);
            assertEquals(Set.of(key), selector.selectedKeys());
            assertTrue(key.isReadable());
            selector.selectedKeys().clear();
        }
        assertEquals(1, readOne());
        assertEquals(0, selector.selectNow());
    }

    @Test
    void selectWakesForDataWrittenWhileItSleeps() throws Exception {
        register(SelectionKey.OP_READ);
        for (int i = 0; i < 20; i++) {
            Wait.Task<Integer> select = Wait.start(i % 2 == 1, () -> selector.select());
            select.blockedIn("select");
            makeReadable();
            assertEquals(1, select.get());
            selector.selectedKeys().clear();
            assertEquals(1, readOne());
        }
    }

    @Test
    void writableUntilFullAndAgainAfterThePeerReads() throws Exception {
        register(SelectionKey.OP_WRITE);
        assertEquals(1, selector.select(LONG_MS));
        selector.selectedKeys().clear();
        ByteBuffer chunk = ByteBuffer.allocate(64 << 10);
        while (pair.client().write(chunk.clear()) > 0) {
            // until full
        }
        Wait.until("full", () -> {
            pair.client().write(chunk.clear());
            selector.selectedKeys().clear();
            return selector.selectNow() == 0;
        });
        Wait.Task<Integer> select = Wait.start(() -> selector.select()).blockedIn("select");
        Wait.until("writable again", () -> {
            pair.server().read(chunk.clear());
            return select.isDone();
        });
        assertEquals(1, select.get());
    }

    @Test
    void endOfStreamIsReadable() throws Exception {
        register(SelectionKey.OP_READ);
        pair.server().shutdownOutput();
        assertEquals(1, selector.select(LONG_MS));
        assertEquals(-1, readOne());
        selector.selectedKeys().clear();
        assertEquals(1, selector.select(LONG_MS));
    }

    @Test
    void closeOfThePeerIsReadable() throws Exception {
        register(SelectionKey.OP_READ);
        Wait.Task<Integer> select = Wait.start(() -> selector.select()).blockedIn("select");
        pair.server().close();
        assertEquals(1, select.get());
        assertEquals(-1, readOne());
    }

    @Test
    void readyOpsAccumulateWhileTheKeyStaysSelected() throws Exception {
        SelectionKey key = register(SelectionKey.OP_WRITE);
        assertEquals(1, selector.select(LONG_MS));
        assertEquals(SelectionKey.OP_WRITE, key.readyOps());
        key.interestOps(SelectionKey.OP_READ);
        makeReadable();
        assertEquals(1, selector.select(LONG_MS));
        assertEquals(SelectionKey.OP_READ | SelectionKey.OP_WRITE, key.readyOps());
        assertEquals(0, selector.select(LONG_MS), "nothing changed in the selected-key set");
        selector.selectedKeys().clear();
        assertEquals(1, selector.select(LONG_MS));
        assertEquals(SelectionKey.OP_READ, key.readyOps());
    }

    @Test
    void interestInNothingSelectsNothing() throws Exception {
        SelectionKey key = register(0);
        makeReadable();
        assertEquals(0, selector.selectNow());
        assertEquals(0, selector.select(20));
        key.interestOps(SelectionKey.OP_READ);
        assertEquals(1, selector.select(LONG_MS));
        selector.selectedKeys().clear();
        key.interestOps(0);
        assertEquals(0, selector.selectNow());
        assertEquals(0, selector.select(20));
    }

    @Test
    void acceptIsSelected() throws Exception {
        try (ServerSocketChannel listener = variant.listen();
                SocketChannel client = variant.open()) {
            listener.configureBlocking(false);
            SelectionKey key = listener.register(selector, SelectionKey.OP_ACCEPT);
            assertEquals(0, selector.selectNow());
            assertNull(listener.accept());
            Wait.Task<Integer> select = Wait.start(() -> selector.select()).blockedIn("select");
            client.connect(listener.getLocalAddress());
            assertEquals(1, select.get());
            assertTrue(key.isAcceptable());
            selector.selectedKeys().clear();
            assertEquals(1, selector.select(LONG_MS), "level-triggered");
            try (SocketChannel server = listener.accept()) {
                assertTrue(server.isBlocking(), "whatever the listener's mode");
                variant.checked(new Pair(client, server));
            }
            selector.selectedKeys().clear();
            assertEquals(0, selector.selectNow());
        }
    }

    @Test
    void listenerBoundAfterRegistrationIsSelected() throws Exception {
        try (ServerSocketChannel listener = variant.provider().openServerSocketChannel();
                SocketChannel client = variant.open()) {
            listener.configureBlocking(false);
            SelectionKey key = listener.register(selector, SelectionKey.OP_ACCEPT);
            listener.bind(new java.net.InetSocketAddress(Variant.loopback(), 0));
            client.connect(listener.getLocalAddress());
            Wait.until("accept is selected", () -> {
                selector.select(LONG_MS);
                return key.isAcceptable();
            });
            listener.accept().close();
        }
    }

    // --- select, wake-up, time-outs

    @Test
    void selectTimesOutAccurately() throws Exception {
        register(SelectionKey.OP_READ);
        for (long ms : new long[] {1, 10, 150}) {
            long start = System.nanoTime();
            assertEquals(0, selector.select(ms));
            long elapsedNs = System.nanoTime() - start;
            assertTrue(elapsedNs >= TimeUnit.MILLISECONDS.toNanos(ms), ms + " ms took " + elapsedNs + " ns");
            assertTrue(elapsedNs < TimeUnit.MILLISECONDS.toNanos(ms + 1000), ms + " ms took " + elapsedNs + " ns");
        }
    }

    @Test
    void wakeupBeforeSelectMakesItReturnAtOnceAndCountsOnce() throws Exception {
        register(SelectionKey.OP_READ);
        assertSame(selector, selector.wakeup());
        selector.wakeup();
        assertEquals(0, selector.select());
        long start = System.nanoTime();
        assertEquals(0, selector.select(50));
        assertTrue(System.nanoTime() - start >= 50_000_000);
    }

    @Test
    void wakeupIsConsumedBySelectNow() throws Exception {
        register(SelectionKey.OP_READ);
        selector.wakeup();
        assertEquals(0, selector.selectNow());
        long start = System.nanoTime();
        assertEquals(0, selector.select(50));
        assertTrue(System.nanoTime() - start >= 50_000_000);
    }

    @Test
    void wakeupWakesASleepingSelect() throws Exception {
        register(SelectionKey.OP_READ);
        for (int i = 0; i < 50; i++) {
            Wait.Task<Integer> select = Wait.start(i % 2 == 1, () -> selector.select());
            if (i % 5 == 0) {
                select.blockedIn("select");
            }
            selector.wakeup();
            assertEquals(0, select.get());
        }
    }

    @Test
    void wakeupStillReportsWhatIsReady() throws Exception {
        register(SelectionKey.OP_READ);
        makeReadable();
        selector.wakeup();
        assertEquals(1, selector.select());
    }

    @Test
    void interruptEndsSelectAndTheStatusStays() throws Exception {
        register(SelectionKey.OP_READ);
        for (int i = 0; i < 10; i++) {
            Wait.Task<Boolean> select = Wait.start(i % 2 == 1, () -> {
                assertEquals(0, selector.select());
                return Thread.currentThread().isInterrupted();
            });
            select.blockedIn("select");
            select.thread.interrupt();
            assertTrue(select.get());
            assertTrue(selector.isOpen());
        }
    }

    @Test
    void interruptedThreadSelectsWithoutSleeping() throws Exception {
        register(SelectionKey.OP_READ);
        for (int i = 0; i < 2; i++) {
            Wait.Task<Boolean> select = Wait.start(i == 1, () -> {
                Thread.currentThread().interrupt();
                assertEquals(0, selector.select());
                return Thread.currentThread().isInterrupted();
            });
            assertTrue(select.get());
        }
    }

    @Test
    void closeDuringSelectLetsItReturn() throws Exception {
        register(SelectionKey.OP_READ);
        for (int i = 0; i < 2; i++) {
            Selector other = variant.selector();
            Wait.Task<Integer> select = Wait.start(i == 1, () -> other.select());
            select.blockedIn("select");
            other.close();
            assertEquals(0, select.get());
            assertThrows(ClosedSelectorException.class, other::select);
        }
    }

    @Test
    void closedSelectorRefusesEverything() throws Exception {
        SelectionKey key = register(SelectionKey.OP_READ);
        selector.close();
        selector.close();
        assertFalse(selector.isOpen());
        assertFalse(key.isValid());
        assertFalse(pair.client().isRegistered());
        assertThrows(ClosedSelectorException.class, selector::keys);
        assertThrows(ClosedSelectorException.class, selector::selectedKeys);
        assertThrows(ClosedSelectorException.class, selector::select);
        assertThrows(ClosedSelectorException.class, selector::selectNow);
        assertThrows(ClosedSelectorException.class, () -> register(SelectionKey.OP_READ));
        assertDoesNotThrow(selector::wakeup);
        makeReadable();
        assertEquals(1, readOne(), "the channel lives on");
    }

    // --- key sets

    @Test
    void keySetsCanNotBeGrown() throws Exception {
        SelectionKey key = register(SelectionKey.OP_WRITE);
        assertEquals(Set.of(key), selector.keys());
        assertThrows(UnsupportedOperationException.class, () -> selector.keys().remove(key));
        assertThrows(UnsupportedOperationException.class, () -> selector.keys().clear());
        assertThrows(
                UnsupportedOperationException.class,
                () -> selector.selectedKeys().add(key));
        assertThrows(
                UnsupportedOperationException.class,
                () -> selector.selectedKeys().addAll(List.of(key)));
        assertEquals(1, selector.select(LONG_MS));
        assertTrue(selector.selectedKeys().contains(key));
        assertTrue(selector.selectedKeys().remove(key));
        assertFalse(selector.selectedKeys().remove(key));
        assertTrue(selector.selectedKeys().isEmpty());
        assertSame(selector.keys(), selector.keys());
        assertSame(selector.selectedKeys(), selector.selectedKeys());
    }

    @Test
    void iteratorRemovesFromTheSelectedKeys() throws Exception {
        register(SelectionKey.OP_WRITE);
        pair.server().register(selector, SelectionKey.OP_WRITE);
        Wait.until("both are selected", () -> {
            selector.select(LONG_MS);
            return selector.selectedKeys().size() == 2;
        });
        List<SelectionKey> seen = new ArrayList<>();
        for (var it = selector.selectedKeys().iterator(); it.hasNext(); ) {
            seen.add(it.next());
            it.remove();
        }
        assertEquals(selector.keys(), Set.copyOf(seen));
        assertEquals(0, selector.selectedKeys().size());
    }

    @Test
    void keyKnowsItsChannelSelectorAndAttachment() throws Exception {
        Object attachment = new Object();
        SelectionKey key = pair.client().register(selector, SelectionKey.OP_READ, attachment);
        assertSame(pair.client(), key.channel());
        assertSame(selector, key.selector());
        assertSame(attachment, key.attachment());
        assertSame(key, pair.client().keyFor(selector));
        assertTrue(pair.client().isRegistered());
        assertSame(key, register(SelectionKey.OP_WRITE), "registering again updates the key");
        assertEquals(SelectionKey.OP_WRITE, key.interestOps());
        assertNull(key.attachment());
        assertEquals(SelectionKey.OP_WRITE, key.interestOpsOr(SelectionKey.OP_READ));
        assertEquals(SelectionKey.OP_READ | SelectionKey.OP_WRITE, key.interestOpsAnd(SelectionKey.OP_READ));
        assertEquals(SelectionKey.OP_READ, key.interestOps());
        assertThrows(IllegalArgumentException.class, () -> key.interestOps(SelectionKey.OP_ACCEPT));
        assertThrows(IllegalArgumentException.class, () -> key.interestOpsOr(SelectionKey.OP_ACCEPT));
        assertThrows(IllegalArgumentException.class, () -> register(SelectionKey.OP_ACCEPT));
    }

    @Test
    void blockingChannelCanNotBeRegistered() throws Exception {
        pair.client().configureBlocking(true);
        assertThrows(IllegalBlockingModeException.class, () -> register(SelectionKey.OP_READ));
    }

    @Test
    void registeredChannelCanNotBeMadeBlocking() throws Exception {
        register(SelectionKey.OP_READ);
        assertThrows(IllegalBlockingModeException.class, () -> pair.client().configureBlocking(true));
    }

    @Test
    void closedChannelCanNotBeRegistered() throws Exception {
        pair.client().close();
        assertThrows(ClosedChannelException.class, () -> register(SelectionKey.OP_READ));
    }

    @Test
    void cancelledKeyIsDeregisteredByTheNextSelect() throws Exception {
        SelectionKey key = register(SelectionKey.OP_READ);
        makeReadable();
        assertEquals(1, selector.select(LONG_MS));
        key.cancel();
        key.cancel();
        assertFalse(key.isValid());
        assertThrows(CancelledKeyException.class, key::interestOps);
        assertThrows(CancelledKeyException.class, () -> key.interestOps(0));
        assertThrows(CancelledKeyException.class, key::readyOps);
        assertTrue(pair.client().isRegistered());
        assertTrue(selector.keys().contains(key));
        assertThrows(CancelledKeyException.class, () -> register(SelectionKey.OP_READ));
        assertEquals(0, selector.selectNow());
        assertFalse(selector.keys().contains(key));
        assertFalse(selector.selectedKeys().contains(key));
        assertFalse(pair.client().isRegistered());
        assertNull(pair.client().keyFor(selector));
        assertNotNull(register(SelectionKey.OP_READ));
        assertEquals(1, selector.select(LONG_MS));
    }

    @Test
    void channelCanBeMadeBlockingAfterCancelBeforeTheNextSelect() throws Exception {
        for (int i = 0; i < 10; i++) {
            SelectionKey key = register(SelectionKey.OP_READ);
            assertEquals(0, selector.selectNow());
            key.cancel();
            pair.client().configureBlocking(true);
            makeReadable();
            assertEquals(1, readOne());
            assertEquals(0, selector.selectNow());
            pair.client().configureBlocking(false);
        }
    }

    @Test
    void closedChannelLeavesTheKeySets() throws Exception {
        SelectionKey key = register(SelectionKey.OP_READ);
        makeReadable();
        assertEquals(1, selector.select(LONG_MS));
        pair.client().close();
        assertFalse(key.isValid());
        assertEquals(0, selector.selectNow());
        assertTrue(selector.keys().isEmpty());
        assertTrue(selector.selectedKeys().isEmpty());
    }

    @Test
    void closeOfAChannelDoesNotEndASleepingSelect() throws Exception {
        register(SelectionKey.OP_READ);
        Wait.Task<Integer> select = Wait.start(() -> selector.select()).blockedIn("select");
        pair.client().close();
        assertEquals(-1, readUntilEnd());
        assertFalse(select.isDone());
        selector.wakeup();
        assertEquals(0, select.get());
        assertTrue(selector.keys().isEmpty());
    }

    private int readUntilEnd() throws Exception {
        int[] n = {0};
        Wait.until("the end of the stream", () -> {
            n[0] = pair.server().read(ByteBuffer.allocate(1));
            return n[0] < 0;
        });
        return n[0];
    }

    // --- other threads

    @Test
    void registerInterestAndCancelDoNotBlockWhileAnotherThreadSelects() throws Exception {
        SelectionKey key = register(SelectionKey.OP_READ);
        Wait.Task<Integer> select = Wait.start(() -> selector.select()).blockedIn("select");
        SelectionKey other = pair.server().register(selector, 0);
        key.interestOps(0);
        other.cancel();
        assertEquals(2, Set.of(key, other).size());
        assertFalse(select.isDone());
        selector.wakeup();
        assertEquals(0, select.get());
    }

    @Test
    void interestSetByAnotherThreadIsSeenAfterWakeup() throws Exception {
        SelectionKey key = register(0);
        makeReadable();
        Wait.Task<Integer> select = Wait.start(() -> selector.select()).blockedIn("select");
        key.interestOps(SelectionKey.OP_READ);
        selector.wakeup();
        int first = select.get();
        assertEquals(1, first == 1 ? first : selector.select(LONG_MS));
    }

    @Test
    void oneChannelInSeveralSelectorsWakesEach() throws Exception {
        List<Selector> selectors = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                Selector another = variant.selector();
                selectors.add(another);
                pair.client().register(another, SelectionKey.OP_READ);
            }
            for (int round = 0; round < 20; round++) {
                List<Wait.Task<Integer>> tasks = new ArrayList<>();
                for (Selector another : selectors) {
                    tasks.add(Wait.start(() -> another.select()).blockedIn("select"));
                }
                makeReadable();
                for (Wait.Task<Integer> task : tasks) {
                    assertEquals(1, task.get());
                }
                for (Selector another : selectors) {
                    another.selectedKeys().clear();
                }
                assertEquals(1, readOne());
            }
        } finally {
            for (Selector another : selectors) {
                another.close();
            }
        }
    }

    // --- select with an action

    @Test
    void actionGetsReadyKeysAndTheSelectedSetIsLeftAlone() throws Exception {
        SelectionKey key = register(SelectionKey.OP_READ);
        makeReadable();
        List<SelectionKey> got = new ArrayList<>();
        assertEquals(1, selector.select(got::add));
        assertEquals(1, selector.select(got::add, LONG_MS));
        assertEquals(1, selector.selectNow(got::add));
        assertEquals(List.of(key, key, key), got);
        assertTrue(selector.selectedKeys().isEmpty());
        assertTrue(key.isReadable());
        assertThrows(NullPointerException.class, () -> selector.select(null));
        assertThrows(IllegalArgumentException.class, () -> selector.select(got::add, -1));
        assertThrows(IllegalArgumentException.class, () -> selector.select(-1));
    }

    @Test
    void actionMustNotSelectAgain() throws Exception {
        register(SelectionKey.OP_READ);
        makeReadable();
        assertEquals(1, selector.select(key -> assertThrows(IllegalStateException.class, selector::selectNow)));
        assertEquals(1, selector.select(LONG_MS));
    }

    @Test
    void exceptionOfTheActionComesThroughAndNothingIsLost() throws Exception {
        register(SelectionKey.OP_READ);
        makeReadable();
        for (int i = 0; i < 2; i++) {
            assertThrows(
                    UnsupportedOperationException.class,
                    () -> selector.select(key -> {
                        throw new UnsupportedOperationException();
                    }));
        }
        assertEquals(1, selector.select(LONG_MS));
    }

    @Test
    void actionMayCloseTheSelector() throws Exception {
        register(SelectionKey.OP_READ);
        makeReadable();
        assertThrows(ClosedSelectorException.class, () -> selector.select(key -> assertDoesNotThrow(selector::close)));
        assertFalse(selector.isOpen());
    }

    // --- many

    @Test
    void noneOfManyReadyChannelsStarves() throws Exception {
        int count = 300;
        List<Pair> pairs = new ArrayList<>();
        try (ServerSocketChannel listener = variant.listen()) {
            for (int i = 0; i < count; i++) {
                Pair one = variant.pair(listener).nonBlocking();
                pairs.add(one);
                one.client().register(selector, SelectionKey.OP_READ, i);
                one.server().write(ByteBuffer.allocate(1));
            }
            int[] seen = new int[count];
            for (int round = 0; round < 20; round++) {
                selector.select(key -> seen[(int) key.attachment()]++, LONG_MS);
            }
            for (int i = 0; i < count; i++) {
                assertTrue(seen[i] > 0, "channel " + i + " was never selected");
            }
        } finally {
            for (Pair one : pairs) {
                one.close();
            }
        }
    }

    @Test
    void pingPongThroughSelectorsLosesNothing() throws Exception {
        int rounds = 2000;
        pair.server().register(selector, SelectionKey.OP_READ);
        Wait.Task<Void> echo = Wait.start(() -> {
            ByteBuffer buffer = ByteBuffer.allocate(16);
            for (int echoed = 0; echoed < rounds * 8; ) {
                assertEquals(1, selector.select(LONG_MS));
                selector.selectedKeys().clear();
                while (pair.server().read(buffer.clear()) > 0) {
                    echoed += pair.server().write(buffer.flip());
                }
            }
            return null;
        });
        try (Selector own = variant.selector()) {
            pair.client().register(own, SelectionKey.OP_READ);
            ByteBuffer buffer = ByteBuffer.allocate(16);
            for (int i = 0; i < rounds; i++) {
                buffer.clear().limit(8);
                assertEquals(8, pair.client().write(buffer));
                int got = 0;
                while (got < 8) {
                    assertEquals(1, own.select(LONG_MS));
                    own.selectedKeys().clear();
                    got += pair.client().read(buffer.clear());
                }
            }
        }
        echo.get();
    }
}
