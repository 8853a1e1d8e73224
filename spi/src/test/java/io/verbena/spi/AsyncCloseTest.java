package io.verbena.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.verbena.spi.Variant.Pair;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Close and interrupt of a channel that another thread is blocked in, on platform and virtual threads. */
@ParameterizedClass
@MethodSource("variants")
class AsyncCloseTest {
    private static final int ROUNDS = 5;

    private final Variant variant;
    private final boolean virtual;

    AsyncCloseTest(Variant variant, boolean virtual) {
        this.variant = variant;
        this.virtual = virtual;
    }

    static List<Arguments> variants() {
        return Variant.all().stream()
                .flatMap(variant -> List.of(Arguments.of(variant, false), Arguments.of(variant, true)).stream())
                .toList();
    }

    private <T> Wait.Task<T> start(Callable<T> body) {
        return Wait.start(virtual, body);
    }

    private static Object fill(SocketChannel channel) throws Exception {
        while (true) {
            channel.write(ByteBuffer.allocate(1 << 20));
        }
    }

    @Test
    void closeEndsABlockedRead() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            try (Pair pair = variant.pair()) {
                Wait.Task<Integer> reader =
                        start(() -> pair.client().read(ByteBuffer.allocate(1))).blockedIn("read");
                pair.client().close();
                assertEquals(AsynchronousCloseException.class, reader.failure().getClass());
                assertEquals(-1, pair.server().read(ByteBuffer.allocate(1)));
            }
        }
    }

    @Test
    void closeEndsABlockedScatteringRead() throws Exception {
        try (Pair pair = variant.pair()) {
            ByteBuffer[] buffers = {ByteBuffer.allocate(1), ByteBuffer.allocate(1)};
            Wait.Task<Long> reader = start(() -> pair.client().read(buffers)).blockedIn("read");
            pair.client().close();
            assertEquals(AsynchronousCloseException.class, reader.failure().getClass());
        }
    }

    @Test
    void closeEndsABlockedWrite() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            try (Pair pair = variant.pair()) {
                Wait.Task<Object> writer = start(() -> fill(pair.client())).blockedIn("write");
                pair.client().close();
                assertInstanceOf(ClosedChannelException.class, writer.failure());
            }
        }
    }

    @Test
    void closeEndsABlockedAccept() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            ServerSocketChannel listener = variant.listen();
            Wait.Task<SocketChannel> acceptor = start(listener::accept).blockedIn("accept");
            listener.close();
            assertEquals(AsynchronousCloseException.class, acceptor.failure().getClass());
        }
    }

    @Test
    void portOfAListenerClosedDuringAcceptIsFreeOnceAcceptReturned() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            ServerSocketChannel listener = variant.listen();
            Wait.Task<SocketChannel> acceptor = start(listener::accept).blockedIn("accept");
            var address = listener.getLocalAddress();
            listener.close();
            assertInstanceOf(AsynchronousCloseException.class, acceptor.failure());
            try (ServerSocketChannel again = variant.provider().openServerSocketChannel()) {
                again.bind(address);
            }
        }
    }

    @Test
    void interruptOfABlockedReadClosesTheChannel() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            try (Pair pair = variant.pair()) {
                Wait.Task<Boolean> reader = start(() -> {
                            assertThrows(
                                    ClosedByInterruptException.class,
                                    () -> pair.client().read(ByteBuffer.allocate(1)));
                            return Thread.currentThread().isInterrupted();
                        })
                        .blockedIn("read");
                reader.thread.interrupt();
                assertTrue(reader.get(), "the interrupt status stays");
                assertFalse(pair.client().isOpen());
            }
        }
    }

    @Test
    void interruptOfABlockedWriteClosesTheChannel() throws Exception {
        try (Pair pair = variant.pair()) {
            Wait.Task<Object> writer = start(() -> fill(pair.client())).blockedIn("write");
            writer.thread.interrupt();
            assertEquals(ClosedByInterruptException.class, writer.failure().getClass());
            assertFalse(pair.client().isOpen());
        }
    }

    @Test
    void interruptOfABlockedAcceptClosesTheListener() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            try (ServerSocketChannel listener = variant.listen()) {
                Wait.Task<SocketChannel> acceptor = start(listener::accept).blockedIn("accept");
                acceptor.thread.interrupt();
                assertEquals(
                        ClosedByInterruptException.class, acceptor.failure().getClass());
                assertFalse(listener.isOpen());
            }
        }
    }

    @Test
    void interruptedThreadIsRefusedAtOnceEvenWithDataThere() throws Exception {
        try (Pair pair = variant.pair()) {
            pair.server().write(ByteBuffer.wrap(new byte[10]));
            Wait.Task<Integer> reader = start(() -> {
                Thread.currentThread().interrupt();
                return pair.client().read(ByteBuffer.allocate(1));
            });
            assertEquals(ClosedByInterruptException.class, reader.failure().getClass());
            assertFalse(pair.client().isOpen());
        }
    }

    @Test
    void interruptedThreadCanNotWriteAcceptOrConnect() throws Exception {
        try (Pair pair = variant.pair();
                ServerSocketChannel listener = variant.listen();
                ServerSocketChannel other = variant.listen();
                SocketChannel client = variant.open()) {
            Wait.Task<Void> task = start(() -> {
                Thread.currentThread().interrupt();
                assertThrows(
                        ClosedByInterruptException.class, () -> pair.client().write(ByteBuffer.allocate(1)));
                assertThrows(ClosedByInterruptException.class, listener::accept);
                assertThrows(ClosedByInterruptException.class, () -> client.connect(other.getLocalAddress()));
                return null;
            });
            task.get();
            assertFalse(pair.client().isOpen());
            assertFalse(listener.isOpen());
            assertFalse(client.isOpen());
        }
    }

    @Test
    void interruptDoesNotMatterInNonBlockingMode() throws Exception {
        try (Pair pair = variant.pair().nonBlocking()) {
            Wait.Task<Void> task = start(() -> {
                Thread.currentThread().interrupt();
                assertEquals(0, pair.client().read(ByteBuffer.allocate(1)));
                assertEquals(1, pair.client().write(ByteBuffer.allocate(1)));
                return null;
            });
            task.get();
            assertTrue(pair.client().isOpen());
        }
    }

    @Test
    void interruptOfTheReaderEndsTheWriterToo() throws Exception {
        try (Pair pair = variant.pair()) {
            Wait.Task<Object> writer = start(() -> fill(pair.client())).blockedIn("write");
            Wait.Task<Integer> reader =
                    start(() -> pair.client().read(ByteBuffer.allocate(1))).blockedIn("read");
            reader.thread.interrupt();
            assertEquals(ClosedByInterruptException.class, reader.failure().getClass());
            assertInstanceOf(ClosedChannelException.class, writer.failure());
        }
    }

    @Test
    void closeFromManyThreadsAtOnceIsQuiet() throws Exception {
        try (Pair pair = variant.pair()) {
            List<Wait.Task<Void>> closers = java.util.stream.IntStream.range(0, 8)
                    .mapToObj(i -> start(() -> {
                        pair.client().close();
                        return (Void) null;
                    }))
                    .toList();
            for (Wait.Task<Void> closer : closers) {
                closer.get();
            }
            assertFalse(pair.client().isOpen());
        }
    }
}
