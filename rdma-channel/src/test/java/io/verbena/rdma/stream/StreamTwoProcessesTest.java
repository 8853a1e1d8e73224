package io.verbena.rdma.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.verbena.rdma.verbs.Jvm;
import io.verbena.rdma.verbs.Verbs;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams between two JVMs on the device under test, with figures beside those of TCP in the same run. */
@Timeout(120)
class StreamTwoProcessesTest {
    private static final int MESSAGE_BYTES = 64;
    private static final int CHUNK_BYTES = 64 * 1024;
    private static final int ROUNDS = 4_000;
    private static final int WARM_UP_ROUNDS = 12_000;
    private static final int BULK_ROUNDS = 6;
    private static final int CONNECTIONS = 200;

    private static Jvm peer;
    private static InetSocketAddress streams;
    private static InetSocketAddress tcp;

    @BeforeAll
    static void start() throws IOException {
        peer = new Jvm(StreamPeer.class);
        var host = StreamPair.localPort().getAddress();
        streams = new InetSocketAddress(host, Integer.parseInt(peer.line()));
        tcp = new InetSocketAddress(host, Integer.parseInt(peer.line()));
    }

    @AfterAll
    static void stop() throws IOException {
        peer.close();
    }

    private interface Connect {
        Conversation open() throws IOException;
    }

    private static Conversation overTcp() throws IOException {
        SocketChannel channel = SocketChannel.open(tcp);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        return Conversation.over(channel);
    }

    private static Conversation overStream() throws IOException {
        return Conversation.connectStream(streams);
    }

    private static Conversation ask(Connect connect, char service) throws IOException {
        Conversation conversation = connect.open();
        conversation.writeFully(ByteBuffer.wrap(new byte[] {(byte) service}));
        return conversation;
    }

    @Test
    void roundTripsBesideTcp() throws Exception {
        long overTcp = roundTrip(StreamTwoProcessesTest::overTcp);
        long overStream = roundTrip(StreamTwoProcessesTest::overStream);
        System.out.printf("64 B round trip p50: stream %d us, TCP %d us%n", overStream / 1000, overTcp / 1000);
    }

    private static long roundTrip(Connect connect) throws IOException {
        try (Conversation echo = ask(connect, 'E')) {
            ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_BYTES);
            long[] times = new long[ROUNDS];
            for (int i = -WARM_UP_ROUNDS; i < ROUNDS; i++) {
                long start = System.nanoTime();
                message.clear().putInt(0, i);
                echo.writeFully(message);
                assertTrue(echo.readFully(message.clear()));
                assertEquals(i, message.getInt(0));
                if (i >= 0) {
                    times[i] = System.nanoTime() - start;
                }
            }
            Arrays.sort(times);
            return times[ROUNDS / 2];
        }
    }

    @Test
    void bulkBesideTcp() throws Exception {
        double overTcp = bulk(StreamTwoProcessesTest::overTcp);
        double overStream = bulk(StreamTwoProcessesTest::overStream);
        System.out.printf("64 KiB chunks one way: stream %.0f MB/s, TCP %.0f MB/s%n", overStream, overTcp);
    }

    private static double bulk(Connect connect) throws IOException {
        double mbPerSecond = 0;
        for (int round = 0; round < BULK_ROUNDS; round++) { // the first ones warm up
            try (Conversation sink = ask(connect, 'S')) {
                ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
                long total = 0;
                long start = System.nanoTime();
                while (System.nanoTime() - start < TimeUnit.SECONDS.toNanos(1)) {
                    sink.writeFully(chunk.clear());
                    total += CHUNK_BYTES;
                }
                sink.shutdownOutput();
                assertTrue(sink.readFully(chunk.clear().limit(Long.BYTES)));
                assertEquals(total, chunk.getLong(0));
                mbPerSecond = total * 1e3 / (System.nanoTime() - start);
            }
        }
        return mbPerSecond;
    }

    @Test
    void connectionsBesideTcp() throws Exception {
        double overTcp = connections(StreamTwoProcessesTest::overTcp);
        double overStream = connections(StreamTwoProcessesTest::overStream);
        System.out.printf("connect, ask, answer, close: stream %.2f ms, TCP %.2f ms%n", overStream, overTcp);
    }

    private static double connections(Connect connect) throws IOException {
        double ms = 0;
        for (int round = 0; round < 2; round++) { // the first warms up
            long start = System.nanoTime();
            for (int i = 0; i < CONNECTIONS; i++) {
                try (Conversation sink = ask(connect, 'S')) {
                    sink.shutdownOutput();
                    assertTrue(sink.readFully(ByteBuffer.allocate(Long.BYTES)));
                }
            }
            ms = (System.nanoTime() - start) / 1e6 / CONNECTIONS;
        }
        return ms;
    }

    @Test
    void whatWasWrittenBeforeCloseIsDelivered() throws Exception {
        try (Conversation sink = ask(StreamTwoProcessesTest::overStream, 'S')) {
            sink.writeFully(ByteBuffer.allocate(3 << 20));
        } // its answer is lost, and the peer serves on
        try (Conversation sink = ask(StreamTwoProcessesTest::overStream, 'S')) {
            sink.writeFully(ByteBuffer.allocate(3 << 20));
            sink.shutdownOutput();
            ByteBuffer total = ByteBuffer.allocate(Long.BYTES);
            assertTrue(sink.readFully(total));
            assertEquals(3 << 20, total.getLong(0));
        }
    }

    @Test
    void aKilledPeerIsAnEndOrAResetInBoundedTimeAfterWhatItWrote() throws Exception {
        try (Jvm victim = new Jvm(StreamPeer.class)) {
            var to = new InetSocketAddress(streams.getAddress(), Integer.parseInt(victim.line()));
            int unused = Integer.parseInt(victim.line());
            try (Conversation hold = ask(() -> Conversation.connectStream(to), 'H')) {
                assertEquals("held", victim.line());
                victim.kill();
                long start = System.nanoTime();
                ByteBuffer hello = ByteBuffer.allocate(5);
                assertTrue(hold.readFully(hello));
                if (Verbs.backend().name().equals("soft")) {
                    assertEquals(-1, hold.read(ByteBuffer.allocate(1)));
                } else {
                    assertThrows(SocketException.class, () -> hold.read(ByteBuffer.allocate(1)));
                }
                long ms = (System.nanoTime() - start) / 1_000_000;
                System.out.printf("kill -9 of the peer: noticed by the reader after %d ms%n", ms);
                assertTrue(ms < 5_000, ms + " ms");
            }
        }
    }
}
