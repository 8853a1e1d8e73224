package io.verbena.rdma.stream;

import static io.verbena.rdma.stream.RdmaStream.READABLE;
import static io.verbena.rdma.stream.RdmaStream.WRITABLE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.rdma.verbs.Verbs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams in one process, over the soft device or the one under test ({@code io.verbena.verbs}). */
@Timeout(60)
class StreamTest {
    private static final boolean ON_SOFT = Verbs.backend().name().equals("soft");

    private static ByteBuffer bytes(int count, long seed) {
        byte[] bytes = new byte[count];
        new Random(seed).nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }

    private static void writeAll(RdmaStream stream, ByteBuffer src) throws IOException {
        while (src.hasRemaining()) {
            if (stream.write(src) == 0) {
                stream.await(WRITABLE, TimeUnit.SECONDS.toNanos(20));
            }
        }
    }

    /** Reads until the buffer is full or the stream ends. */
    private static int readFully(RdmaStream stream, ByteBuffer dst) throws IOException {
        int total = 0;
        while (dst.hasRemaining()) {
            int n = stream.read(dst);
            if (n < 0) {
                break;
            }
            if (n == 0) {
                stream.await(READABLE, TimeUnit.SECONDS.toNanos(20));
            }
            total += n;
        }
        return total;
    }

    private static int readByte(RdmaStream stream) throws IOException {
        ByteBuffer one = ByteBuffer.allocate(1);
        return readFully(stream, one) == 1 ? one.get(0) : -1;
    }

    @Test
    void messageArrivesBothWays() throws Exception {
        try (StreamPair pair = StreamPair.open()) {
            ByteBuffer sent = bytes(1000, 1);
            writeAll(pair.client, sent.duplicate());
            ByteBuffer got = ByteBuffer.allocate(1000);
            assertEquals(1000, readFully(pair.server, got));
            assertEquals(sent, got.flip());
            writeAll(pair.server, sent.duplicate());
            ByteBuffer direct = ByteBuffer.allocateDirect(1000);
            assertEquals(1000, readFully(pair.client, direct));
            assertEquals(sent, direct.flip());
        }
    }

    @Test
    void addressesAreThoseOfTheTwins() throws Exception {
        try (StreamPair pair = StreamPair.open()) {
            assertEquals(pair.clientAddress(), pair.client.localAddress());
            assertEquals(pair.address, pair.client.remoteAddress());
            assertEquals(pair.address, pair.server.localAddress());
            assertEquals(pair.clientAddress(), pair.server.remoteAddress());
            assertEquals(ON_SOFT, pair.server.transport().equals("soft"));
        }
    }

    @Test
    void newConnectionTakes256KiBWithNoReader() throws Exception {
        try (StreamPair pair = StreamPair.open()) {
            ByteBuffer src = bytes(256 * 1024, 2);
            assertEquals(256 * 1024, pair.client.write(src.duplicate()));
            ByteBuffer got = ByteBuffer.allocate(256 * 1024);
            readFully(pair.server, got);
            assertEquals(src, got.flip());
        }
    }

    @Test
    void newConnectionTakesManySmallWritesWithNoReader() throws Exception {
        int writes = ON_SOFT ? 4096 : 1024;
        try (StreamPair pair = StreamPair.open()) {
            for (int i = 0; i < writes; i++) {
                ByteBuffer one = ByteBuffer.wrap(new byte[] {(byte) i});
                if (pair.client.write(one) == 0) {
                    // Not for want of a reader: the device has not acknowledged what is in the send queue.
                    assertFalse(ON_SOFT, "write " + i);
                    writeAll(pair.client, one);
                }
            }
            for (int i = 0; i < writes; i++) {
                assertEquals((byte) i, (byte) readByte(pair.server), "byte " + i);
            }
        }
    }

    /** Writes until the peer's ring is full: what a device has only not acknowledged yet comes back without a reader. */
    private static int fill(RdmaStream stream) throws IOException {
        ByteBuffer src = ByteBuffer.allocate(1 << 20);
        int total = 0;
        while (true) {
            int n = stream.write(src.clear());
            total += n;
            if (n == 0) {
                stream.await(WRITABLE, TimeUnit.MILLISECONDS.toNanos(ON_SOFT ? 10 : 1_000));
                if ((stream.poll() & WRITABLE) == 0) {
                    return total;
                }
            }
        }
    }

    @Test
    void fullRingTakesNothingUntilItsReaderMakesRoom() throws Exception {
        try (StreamPair pair = StreamPair.open()) {
            int taken = fill(pair.client);
            assertTrue(taken >= 256 * 1024 && taken <= 64 << 20, "took " + taken);
            assertEquals(0, pair.client.write(ByteBuffer.allocate(1)));
            readFully(pair.server, ByteBuffer.allocate(taken));
            pair.client.await(WRITABLE, TimeUnit.SECONDS.toNanos(20));
            assertNotEquals(0, pair.client.write(ByteBuffer.allocate(1)));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void bulkBothWaysAtOnceArrivesInOrder(boolean virtual) throws Exception {
        int total = 24 << 20;
        try (StreamPair pair = StreamPair.open()) {
            var failures = new java.util.concurrent.ConcurrentLinkedQueue<Throwable>();
            Thread[] threads = {
                run(virtual, failures, () -> pump(pair.client, total, 10)),
                run(virtual, failures, () -> pump(pair.server, total, 20)),
                run(virtual, failures, () -> check(pair.client, total, 20)),
                run(virtual, failures, () -> check(pair.server, total, 10)),
            };
            for (Thread t : threads) {
                t.join(50_000);
                assertFalse(t.isAlive(), () -> "hangs: " + pair.client + " " + pair.server);
            }
            assertTrue(failures.isEmpty(), () -> "failed: " + failures);
        }
    }

    private interface Body {
        void run() throws IOException;
    }

    private static Thread run(boolean virtual, java.util.Queue<Throwable> failures, Body body) {
        Runnable guarded = () -> {
            try {
                body.run();
            } catch (IOException | RuntimeException | AssertionError e) {
                failures.add(e);
            }
        };
        return virtual
                ? Thread.startVirtualThread(guarded)
                : Thread.ofPlatform().start(guarded);
    }

    private static void pump(RdmaStream stream, int total, long seed) throws IOException {
        Random random = new Random(seed);
        Random sizes = new Random(seed + 1);
        for (int left = total; left > 0; ) {
            byte[] chunk = new byte[Math.min(left, 1 + sizes.nextInt(100_000))];
            random.nextBytes(chunk);
            writeAll(stream, ByteBuffer.wrap(chunk));
            left -= chunk.length;
        }
    }

    private static void check(RdmaStream stream, int total, long seed) throws IOException {
        Random random = new Random(seed);
        Random sizes = new Random(seed + 1);
        for (int left = total; left > 0; ) {
            byte[] chunk = new byte[Math.min(left, 1 + sizes.nextInt(100_000))];
            random.nextBytes(chunk);
            byte[] got = new byte[chunk.length];
            readFully(stream, ByteBuffer.wrap(got));
            assertArrayEquals(chunk, got);
            left -= chunk.length;
        }
    }

    @Test
    void gatheringWriteAndScatteringReadKeepTheOrder() throws Exception {
        try (StreamPair pair = StreamPair.open()) {
            ByteBuffer[] srcs = {bytes(3, 1), ByteBuffer.allocate(0), bytes(5, 2), bytes(10_000, 3), bytes(7, 4)};
            assertEquals(10_015, pair.client.write(srcs, 0, srcs.length));
            ByteBuffer[] dsts = {ByteBuffer.allocate(4), ByteBuffer.allocateDirect(4), ByteBuffer.allocate(20_000)};
            long n = 0;
            while (n < 10_015) {
                pair.server.await(READABLE, TimeUnit.SECONDS.toNanos(20));
                n += pair.server.read(dsts, 0, 3);
            }
            ByteBuffer got = ByteBuffer.allocate(10_015);
            for (ByteBuffer dst : dsts) {
                got.put(dst.flip());
            }
            ByteBuffer sent = ByteBuffer.allocate(10_015);
            for (ByteBuffer src : srcs) {
                sent.put(src.rewind());
            }
            assertEquals(sent.flip(), got.flip());
        }
    }

    @Test
    void gatheringWriteIntoAFullRingNeverSkipsABuffer() throws Exception {
        try (StreamPair pair = StreamPair.open()) {
            int unused = fill(pair.client);
            ByteBuffer[] srcs = {bytes(3, 1), ByteBuffer.allocate(0), bytes(5000, 2)};
            assertEquals(0, pair.client.write(srcs, 0, srcs.length));
            assertEquals(3, srcs[0].remaining());
            assertEquals(5000, srcs[2].remaining());
        }
    }

    @Test
    void peerReadsMinusOneAfterShutdownOutputAndCanStillWrite() throws Exception {
        try (StreamPair pair = StreamPair.open()) {
            writeAll(pair.client, bytes(10, 1));
            pair.client.shutdownOutput();
            assertEquals(10, readFully(pair.server, ByteBuffer.allocate(11)));
            assertEquals(-1, pair.server.read(ByteBuffer.allocate(1)));
            writeAll(pair.server, bytes(1, 2));
            assertNotEquals(-1, readByte(pair.client));
            assertThrows(ClosedChannelException.class, () -> pair.client.write(bytes(1, 1)));
        }
    }

    @Test
    void peerReadsAllThenMinusOneAfterClose() throws Exception {
        try (StreamPair pair = StreamPair.open()) {
            writeAll(pair.client, bytes(100_000, 1));
            pair.client.close(false);
            assertEquals(100_000, readFully(pair.server, ByteBuffer.allocate(100_001)));
            assertEquals(-1, pair.server.read(ByteBuffer.allocate(1)));
            IOException e = assertThrows(IOException.class, () -> pair.server.write(bytes(1, 1)));
            assertEquals("Broken pipe", e.getMessage());
        }
    }

    @Test
    void closeWithUnreadInputResetsThePeerAfterWhatArrived() throws Exception {
        try (StreamPair pair = StreamPair.open()) {
            writeAll(pair.client, bytes(100, 1));
            writeAll(pair.server, bytes(7, 1));
            pair.server.await(READABLE, TimeUnit.SECONDS.toNanos(20));
            pair.server.close(false);
            assertEquals(7, readFully(pair.client, ByteBuffer.allocate(7)));
            IOException e = assertThrows(IOException.class, () -> readByte(pair.client));
            assertEquals("Connection reset", e.getMessage());
            assertThrows(SocketException.class, () -> pair.client.write(bytes(1, 1)));
        }
    }

    @Test
    void closeWithResetResetsThePeer() throws Exception {
        try (StreamPair pair = StreamPair.open()) {
            pair.client.close(true);
            IOException e = assertThrows(IOException.class, () -> readByte(pair.server));
            assertEquals("Connection reset", e.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closeWakesSleepingReaderAndWriter(boolean virtual) throws Exception {
        try (StreamPair pair = StreamPair.open()) {
            int unused = fill(pair.client);
            var asleep = new CountDownLatch(2);
            var failures = new java.util.concurrent.ConcurrentLinkedQueue<Throwable>();
            Body reader = () -> awaitUntilClosed(pair.client, READABLE, asleep);
            Body writer = () -> awaitUntilClosed(pair.client, WRITABLE, asleep);
            Thread r = run(virtual, failures, reader);
            Thread w = run(virtual, failures, writer);
            assertTrue(asleep.await(20, TimeUnit.SECONDS));
            pair.client.close(false);
            r.join(20_000);
            w.join(20_000);
            assertFalse(r.isAlive() || w.isAlive(), "still asleep");
            assertTrue(failures.isEmpty(), failures::toString);
        }
    }

    private static void awaitUntilClosed(RdmaStream stream, int ops, CountDownLatch asleep) throws IOException {
        asleep.countDown();
        while (!stream.isClosed()) {
            stream.await(ops, TimeUnit.SECONDS.toNanos(30));
        }
    }

    @Test
    void useAfterCloseThrowsClosedChannel() throws Exception {
        try (StreamPair pair = StreamPair.open()) {
            pair.client.close(false);
            pair.client.close(false);
            assertThrows(ClosedChannelException.class, () -> pair.client.read(ByteBuffer.allocate(1)));
            assertThrows(ClosedChannelException.class, () -> pair.client.write(ByteBuffer.allocate(1)));
            assertThrows(ClosedChannelException.class, () -> pair.client.shutdownOutput());
            assertEquals(READABLE | WRITABLE, pair.client.poll());
        }
    }

    @Test
    void shutdownInputReadsMinusOneAndTheWriterIsNotStuck() throws Exception {
        try (StreamPair pair = StreamPair.open()) {
            writeAll(pair.client, bytes(100, 1));
            pair.server.shutdownInput();
            assertEquals(-1, pair.server.read(ByteBuffer.allocate(1)));
            Thread discarder = Thread.ofPlatform().start(() -> {
                try {
                    while (!pair.server.isClosed()) {
                        pair.server.await(WRITABLE, 1_000_000);
                        pair.server.poll();
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            writeAll(pair.client, bytes(4 << 20, 1));
            pair.server.close(false);
            discarder.join(20_000);
            assertFalse(discarder.isAlive());
        }
    }

    @Test
    void connectsAreAcceptedFirstInFirstOut() throws Exception {
        try (StreamPair pair = StreamPair.listening(16)) {
            RdmaStream[] clients = new RdmaStream[8];
            for (int i = 0; i < clients.length; i++) {
                clients[i] = pair.connect();
                writeAll(clients[i], ByteBuffer.wrap(new byte[] {(byte) i}));
            }
            for (int i = 0; i < clients.length; i++) {
                RdmaStream server = pair.accept();
                assertEquals(i, readByte(server));
                server.close(false);
                clients[i].close(false);
            }
            assertNull(pair.listener.accept());
        }
    }

    @Test
    void connectionCanBeAcceptedAsSoonAsItsConnectReturned() throws Exception {
        try (StreamPair pair = StreamPair.listening(16)) {
            for (int i = 0; i < 300; i++) {
                RdmaStream client = pair.connect();
                assertTrue(pair.listener.acceptable(), "connection " + i);
                RdmaStream server = pair.listener.accept();
                assertNotNull(server, "connection " + i);
                server.close(false);
                client.close(false);
            }
        }
    }

    @Test
    void fullBacklogRefusesWithItsReason() throws Exception {
        try (StreamPair pair = StreamPair.listening(2)) {
            RdmaStream a = pair.connect();
            RdmaStream b = pair.connect();
            PendingConnect third = StreamFabric.get().connect(pair.anotherTwin(), pair.address, 0, true);
            assertTrue(third.await(20, TimeUnit.SECONDS));
            assertEquals(Reason.BACKLOG_FULL, third.failure());
            third.release();
            a.close(false);
            b.close(false);
        }
    }

    @Test
    void connectToPlainTcpListenerFailsAsNoListener() throws Exception {
        assumeTrue(StreamPair.TWINS, "on iWARP a plain TCP listener accepts, and gets an MPA request to read");
        try (ServerSocketChannel tcp = ServerSocketChannel.open().bind(StreamPair.localPort());
                StreamPair pair = StreamPair.listening(1)) {
            var to = (InetSocketAddress) tcp.getLocalAddress();
            PendingConnect pending = StreamFabric.get().connect(pair.clientAddress(), to, 0, true);
            assertTrue(pending.await(20, TimeUnit.SECONDS));
            assertEquals(Reason.NO_LISTENER, pending.failure());
            pending.release();
        }
    }

    @Test
    void closingTheListenerResetsWhatWasNotAccepted() throws Exception {
        try (StreamPair pair = StreamPair.listening(4)) {
            RdmaStream client = pair.connect();
            pair.listener.close();
            IOException e = assertThrows(IOException.class, () -> readByte(client));
            assertEquals("Connection reset", e.getMessage());
            client.close(false);
        }
    }
}
