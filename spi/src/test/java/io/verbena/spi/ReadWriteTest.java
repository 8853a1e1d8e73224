package io.verbena.spi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.verbena.spi.Variant.Pair;
import java.io.IOException;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** SocketChannel: reading and writing once connected. */
@ParameterizedClass
@MethodSource("io.verbena.spi.Variant#all")
class ReadWriteTest {
    private final Variant variant;

    ReadWriteTest(Variant variant) {
        this.variant = variant;
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String readFully(SocketChannel channel, int n) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(n);
        while (buffer.hasRemaining() && channel.read(buffer) >= 0) {
            // until full or at the end
        }
        return new String(buffer.array(), 0, buffer.position(), StandardCharsets.US_ASCII);
    }

    @Test
    void bytesGoBothWays() throws Exception {
        try (Pair pair = variant.pair()) {
            assertEquals(5, pair.client().write(bytes("hello")));
            assertEquals("hello", readFully(pair.server(), 5));
            assertEquals(3, pair.server().write(bytes("you")));
            assertEquals("you", readFully(pair.client(), 3));
        }
    }

    @Test
    void blockedReaderGetsWhatIsWrittenLater() throws Exception {
        for (boolean virtual : new boolean[] {false, true}) {
            try (Pair pair = variant.pair()) {
                Wait.Task<String> reader =
                        Wait.start(virtual, () -> readFully(pair.server(), 2)).blockedIn("read");
                pair.client().write(bytes("hi"));
                assertEquals("hi", reader.get());
            }
        }
    }

    @Test
    void directBuffersWorkLikeHeapBuffers() throws Exception {
        try (Pair pair = variant.pair()) {
            ByteBuffer out = ByteBuffer.allocateDirect(8).putLong(42).flip();
            assertEquals(8, pair.client().write(out));
            ByteBuffer in = ByteBuffer.allocateDirect(8);
            assertEquals(8, pair.server().read(in));
            assertEquals(42, in.flip().getLong());
        }
    }

    @Test
    void scatterAndGatherKeepTheOrder() throws Exception {
        try (Pair pair = variant.pair()) {
            ByteBuffer[] out = {bytes("xx"), bytes("ab"), bytes(""), bytes("cde"), bytes("yy")};
            assertEquals(5, pair.client().write(out, 1, 3));
            ByteBuffer[] in = {ByteBuffer.allocate(1), ByteBuffer.allocate(0), ByteBuffer.allocate(10)};
            Wait.until("5 bytes are there", () -> {
                pair.server().read(in);
                return in[0].position() + in[2].position() == 5;
            });
            assertEquals('a', in[0].get(0));
            assertEquals("bcde", new String(in[2].array(), 0, 4, StandardCharsets.US_ASCII));
            assertThrows(IndexOutOfBoundsException.class, () -> pair.client().write(out, 4, 2));
            assertThrows(IndexOutOfBoundsException.class, () -> pair.server().read(in, -1, 2));
        }
    }

    @Test
    void scatterReadReturnsWithLessThanAllBuffersFull() throws Exception {
        try (Pair pair = variant.pair()) {
            pair.client().write(bytes("abc"));
            ByteBuffer[] in = {ByteBuffer.allocate(2), ByteBuffer.allocate(100)};
            assertEquals(3, pair.server().read(in));
        }
    }

    @Test
    void zeroLengthOperationsReturnZero() throws Exception {
        try (Pair pair = variant.pair()) {
            assertEquals(0, pair.client().read(ByteBuffer.allocate(0)));
            assertEquals(0, pair.client().write(ByteBuffer.allocate(0)));
            assertEquals(0, pair.client().write(new ByteBuffer[] {ByteBuffer.allocate(0)}));
            assertEquals(0, pair.client().write(new ByteBuffer[0]));
        }
    }

    @Test
    void readIntoReadOnlyBufferIsRefused() throws Exception {
        try (Pair pair = variant.pair()) {
            ByteBuffer readOnly = ByteBuffer.allocate(10).asReadOnlyBuffer();
            assertThrows(IllegalArgumentException.class, () -> pair.client().read(readOnly));
            ByteBuffer[] several = {ByteBuffer.allocate(1), readOnly};
            assertThrows(IllegalArgumentException.class, () -> pair.client().read(several));
            assertThrows(NullPointerException.class, () -> pair.client().read((ByteBuffer) null));
            assertThrows(NullPointerException.class, () -> pair.client().write((ByteBuffer) null));
        }
    }

    @Test
    void nonBlockingReadWithoutDataReturnsZero() throws Exception {
        try (Pair pair = variant.pair().nonBlocking()) {
            assertEquals(0, pair.client().read(ByteBuffer.allocate(10)));
            assertEquals(0, pair.client().read(new ByteBuffer[] {ByteBuffer.allocate(10)}));
        }
    }

    @Test
    void nonBlockingWritesFillUpAndGoOnWhenThePeerReads() throws Exception {
        try (Pair pair = variant.pair().nonBlocking()) {
            ByteBuffer chunk = ByteBuffer.allocate(64 << 10);
            long written = 0;
            int n;
            while ((n = pair.client().write(chunk.clear())) > 0) {
                written += n;
            }
            assertTrue(written >= 256 << 10, "a new connection takes 256 KiB with no reader: " + written);
            long read = 0;
            while (read < written) {
                n = pair.server().read(chunk.clear());
                assertTrue(n >= 0);
                read += n;
            }
            Wait.until("there is room again", () -> pair.client().write(chunk.clear()) > 0);
        }
    }

    @Test
    void blockingWriteWritesAllOfALargeBuffer() throws Exception {
        byte[] data = new byte[20 << 20];
        new Random(1).nextBytes(data);
        try (Pair pair = variant.pair()) {
            Wait.Task<Integer> writer = Wait.start(() -> pair.client().write(ByteBuffer.wrap(data)));
            ByteBuffer in = ByteBuffer.allocate(data.length);
            while (in.hasRemaining()) {
                assertTrue(pair.server().read(in) > 0);
            }
            assertEquals(data.length, writer.get());
            assertArrayEquals(data, in.array());
        }
    }

    @Test
    void readerAndWriterThreadShareAChannel() throws Exception {
        int total = 8 << 20;
        try (Pair pair = variant.pair()) {
            Wait.Task<Void> echo = Wait.start(() -> {
                ByteBuffer buffer = ByteBuffer.allocate(48 << 10);
                while (pair.server().read(buffer.clear()) >= 0) {
                    buffer.flip();
                    while (buffer.hasRemaining()) {
                        pair.server().write(buffer);
                    }
                }
                pair.server().shutdownOutput();
                return null;
            });
            Wait.Task<Void> writer = Wait.start(() -> {
                Random random = new Random(2);
                byte[] chunk = new byte[64 << 10];
                for (int sent = 0; sent < total; sent += chunk.length) {
                    random.nextBytes(chunk);
                    pair.client().write(ByteBuffer.wrap(chunk));
                }
                pair.client().shutdownOutput();
                return null;
            });
            Random random = new Random(2);
            byte[] expected = new byte[64 << 10];
            for (int got = 0; got < total; got += expected.length) {
                random.nextBytes(expected);
                ByteBuffer in = ByteBuffer.allocate(expected.length);
                while (in.hasRemaining()) {
                    assertTrue(pair.client().read(in) > 0);
                }
                assertArrayEquals(expected, in.array());
            }
            assertEquals(-1, pair.client().read(ByteBuffer.allocate(1)));
            writer.get();
            echo.get();
        }
    }

    @Test
    void peerReadsAllThenMinusOneAfterClose() throws Exception {
        try (Pair pair = variant.pair()) {
            pair.client().write(bytes("last words"));
            pair.client().close();
            assertEquals("last words", readFully(pair.server(), 100));
            assertEquals(-1, pair.server().read(ByteBuffer.allocate(1)));
            assertEquals(-1, pair.server().read(ByteBuffer.allocate(1)));
        }
    }

    @Test
    void peerReadsMinusOneAfterShutdownOutputAndCanStillWrite() throws Exception {
        try (Pair pair = variant.pair()) {
            pair.client().write(bytes("abc"));
            pair.client().shutdownOutput();
            pair.client().shutdownOutput();
            assertEquals("abc", readFully(pair.server(), 100));
            assertEquals(-1, pair.server().read(ByteBuffer.allocate(1)));
            pair.server().write(bytes("def"));
            assertEquals("def", readFully(pair.client(), 3));
            assertThrows(ClosedChannelException.class, () -> pair.client().write(bytes("x")));
        }
    }

    @Test
    void readAfterShutdownInputGivesMinusOne() throws Exception {
        try (Pair pair = variant.pair()) {
            pair.client().shutdownInput();
            pair.client().shutdownInput();
            assertEquals(-1, pair.client().read(ByteBuffer.allocate(1)));
            pair.client().write(bytes("still"));
            assertEquals("still", readFully(pair.server(), 5));
        }
    }

    @Test
    void shutdownInputEndsABlockedRead() throws Exception {
        for (boolean virtual : new boolean[] {false, true}) {
            try (Pair pair = variant.pair()) {
                Wait.Task<Integer> reader = Wait.start(
                                virtual, () -> pair.client().read(ByteBuffer.allocate(1)))
                        .blockedIn("read");
                pair.client().shutdownInput();
                assertEquals(-1, reader.get());
                assertTrue(pair.client().isOpen());
            }
        }
    }

    @Test
    void shutdownOutputEndsABlockedWrite() throws Exception {
        try (Pair pair = variant.pair()) {
            Wait.Task<Object> writer = Wait.start(() -> {
                        while (true) {
                            pair.client().write(ByteBuffer.allocate(1 << 20));
                        }
                    })
                    .blockedIn("write");
            pair.client().shutdownOutput();
            Throwable failure = writer.failure();
            assertTrue(failure instanceof ClosedChannelException, () -> "not " + failure);
            assertTrue(pair.client().isOpen());
        }
    }

    @Test
    void closeWithLingerZeroResets() throws Exception {
        try (Pair pair = variant.pair()) {
            pair.client().setOption(StandardSocketOptions.SO_LINGER, 0);
            pair.client().close();
            SocketException e =
                    assertThrows(SocketException.class, () -> pair.server().read(ByteBuffer.allocate(1)));
            assertEquals("Connection reset", e.getMessage());
            assertThrows(SocketException.class, () -> pair.server().read(ByteBuffer.allocate(1)));
        }
    }

    @Test
    void closeWithUnreadInputResets() throws Exception {
        try (Pair pair = variant.pair()) {
            pair.server().write(bytes("never read"));
            Wait.until(
                    "it is there", () -> pair.client().socket().getInputStream().available() > 0);
            pair.client().close();
            SocketException e =
                    assertThrows(SocketException.class, () -> pair.server().read(ByteBuffer.allocate(1)));
            assertEquals("Connection reset", e.getMessage());
        }
    }

    @Test
    void writesFailSomeTimeAfterThePeerClosed() throws Exception {
        try (Pair pair = variant.pair()) {
            pair.server().close();
            IOException[] failure = {null};
            Wait.until("write fails", () -> {
                try {
                    pair.client().write(bytes("anybody?"));
                    return false;
                } catch (IOException e) {
                    failure[0] = e;
                    return true;
                }
            });
            String message = failure[0].getMessage();
            assertTrue(message.equals("Broken pipe") || message.startsWith("Connection reset"), message);
        }
    }

    @Test
    void blockingModeCanBeToggled() throws Exception {
        try (Pair pair = variant.pair()) {
            for (int i = 0; i < 10; i++) {
                pair.client().configureBlocking(false);
                assertEquals(0, pair.client().read(ByteBuffer.allocate(1)));
                pair.client().configureBlocking(true);
                pair.server().write(bytes("x"));
                assertEquals("x", readFully(pair.client(), 1));
            }
        }
    }
}
