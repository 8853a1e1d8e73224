package io.verbena.spi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.verbena.spi.Variant.Pair;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The channels as java.net sockets, and under the streams of java.io and java.nio.channels. */
@ParameterizedClass
@MethodSource("io.verbena.spi.Variant#all")
class AdaptorTest {
    private final Variant variant;

    AdaptorTest(Variant variant) {
        this.variant = variant;
    }

    @Test
    void adaptorIsCachedAndKnowsItsChannel() throws Exception {
        try (ServerSocketChannel listener = variant.listen();
                Pair pair = variant.pair(listener)) {
            assertSame(pair.client().socket(), pair.client().socket());
            assertSame(pair.client(), pair.client().socket().getChannel());
            assertSame(listener.socket(), listener.socket());
            assertSame(listener, listener.socket().getChannel());
        }
    }

    @Test
    void gettersOfAConnectedSocketAgreeWithTheChannel() throws Exception {
        try (Pair pair = variant.pair()) {
            for (SocketChannel channel : List.of(pair.client(), pair.server())) {
                Socket socket = channel.socket();
                InetSocketAddress local = (InetSocketAddress) channel.getLocalAddress();
                InetSocketAddress remote = (InetSocketAddress) channel.getRemoteAddress();
                assertTrue(socket.isConnected());
                assertTrue(socket.isBound());
                assertFalse(socket.isClosed());
                assertEquals(local.getPort(), socket.getLocalPort());
                assertEquals(local.getAddress(), socket.getLocalAddress());
                assertEquals(local, socket.getLocalSocketAddress());
                assertEquals(remote.getPort(), socket.getPort());
                assertEquals(remote.getAddress(), socket.getInetAddress());
                assertEquals(remote, socket.getRemoteSocketAddress());
                assertTrue(socket.toString().startsWith("Socket[addr="));
                assertEquals(channel.supportedOptions(), socket.supportedOptions());
            }
        }
    }

    @Test
    void gettersOfAnUnconnectedSocketSayNothing() throws Exception {
        try (SocketChannel channel = variant.open()) {
            Socket socket = channel.socket();
            assertFalse(socket.isConnected());
            assertFalse(socket.isBound());
            assertEquals(-1, socket.getLocalPort());
            assertEquals(0, socket.getPort());
            assertNull(socket.getInetAddress());
            assertNull(socket.getRemoteSocketAddress());
            assertTrue(socket.getLocalAddress().isAnyLocalAddress());
            assertEquals("Socket[unconnected]", socket.toString());
            assertEquals(
                    "Socket is not connected",
                    assertThrows(SocketException.class, socket::getInputStream).getMessage());
            assertThrows(SocketException.class, socket::getOutputStream);
            assertThrows(SocketException.class, socket::shutdownInput);
            assertThrows(SocketException.class, socket::shutdownOutput);
        }
    }

    @Test
    void gettersAfterCloseRememberTheConnection() throws Exception {
        try (Pair pair = variant.pair()) {
            Socket socket = pair.client().socket();
            int port = socket.getLocalPort();
            InetSocketAddress remote = (InetSocketAddress) pair.client().getRemoteAddress();
            socket.close();
            assertTrue(socket.isClosed());
            assertFalse(pair.client().isOpen());
            assertEquals(port, socket.getLocalPort());
            assertEquals(remote.getPort(), socket.getPort());
            assertThrows(SocketException.class, socket::getSoTimeout);
            assertThrows(SocketException.class, socket::getTcpNoDelay);
            assertThrows(SocketException.class, socket::getInputStream);
            assertThrows(IOException.class, socket::shutdownOutput);
        }
    }

    @Test
    void optionsGoThroughTheAdaptor() throws Exception {
        try (Pair pair = variant.pair()) {
            for (SocketChannel channel : List.of(pair.client(), pair.server())) {
                Socket socket = channel.socket();
                socket.setTcpNoDelay(true);
                assertTrue(socket.getTcpNoDelay());
                socket.setKeepAlive(true);
                assertTrue(socket.getKeepAlive());
                socket.setReuseAddress(true);
                assertTrue(socket.getReuseAddress());
                socket.setSoLinger(true, 3);
                assertEquals(3, socket.getSoLinger());
                socket.setSoLinger(false, 3);
                assertEquals(-1, socket.getSoLinger());
                socket.setReceiveBufferSize(100_000);
                assertEquals(100_000, socket.getReceiveBufferSize());
                socket.setSendBufferSize(100_000);
                assertEquals(100_000, socket.getSendBufferSize());
                socket.setTrafficClass(8);
                assertEquals(8, socket.getTrafficClass());
                socket.setOOBInline(true);
                assertTrue(socket.getOOBInline());
                socket.setPerformancePreferences(1, 2, 3);
                socket.setOption(StandardSocketOptions.TCP_NODELAY, false);
                assertFalse(socket.getOption(StandardSocketOptions.TCP_NODELAY));
                assertThrows(IllegalArgumentException.class, () -> socket.setReceiveBufferSize(0));
                assertThrows(IllegalArgumentException.class, () -> socket.setSendBufferSize(-1));
                assertThrows(IllegalArgumentException.class, () -> socket.setSoTimeout(-1));
            }
        }
    }

    @Test
    void streamsCarryBytes() throws Exception {
        byte[] data = new byte[3 << 20];
        new Random(3).nextBytes(data);
        try (Pair pair = variant.pair()) {
            Wait.Task<Void> writer = Wait.start(() -> {
                OutputStream out = pair.client().socket().getOutputStream();
                out.write(data[0]);
                out.write(data, 1, data.length - 1);
                out.write(data, 0, 0);
                pair.client().socket().shutdownOutput();
                return null;
            });
            ByteArrayOutputStream got = new ByteArrayOutputStream();
            InputStream in = pair.server().socket().getInputStream();
            assertEquals(0, in.read(new byte[1], 0, 0));
            int first = in.read();
            assertEquals(data[0] & 0xff, first);
            got.write(first);
            assertEquals(data.length - 1L, in.transferTo(got));
            assertEquals(-1, in.read());
            writer.get();
            assertArrayEquals(data, got.toByteArray());
        }
    }

    @Test
    void availableTellsWhatCanBeRead() throws Exception {
        try (Pair pair = variant.pair()) {
            InputStream in = pair.server().socket().getInputStream();
            assertEquals(0, in.available());
            pair.client().write(ByteBuffer.allocate(7));
            Wait.until("7 bytes", () -> in.available() == 7);
        }
    }

    @Test
    void readTimesOut() throws Exception {
        for (boolean virtual : new boolean[] {false, true}) {
            try (Pair pair = variant.pair()) {
                Wait.Task<Void> reader = Wait.start(virtual, () -> {
                    Socket socket = pair.client().socket();
                    socket.setSoTimeout(40);
                    assertEquals(40, socket.getSoTimeout());
                    InputStream in = socket.getInputStream();
                    long start = System.nanoTime();
                    SocketTimeoutException e = assertThrows(SocketTimeoutException.class, in::read);
                    assertEquals("Read timed out", e.getMessage());
                    assertTrue(System.nanoTime() - start >= 40_000_000);
                    pair.server().write(ByteBuffer.wrap(new byte[] {9}));
                    assertEquals(9, in.read());
                    socket.setSoTimeout(0);
                    return null;
                });
                reader.get();
                assertTrue(pair.client().isOpen());
            }
        }
    }

    @Test
    void streamsNeedBlockingMode() throws Exception {
        try (Pair pair = variant.pair()) {
            InputStream in = pair.client().socket().getInputStream();
            OutputStream out = pair.client().socket().getOutputStream();
            pair.client().configureBlocking(false);
            assertThrows(IllegalBlockingModeException.class, in::read);
            assertThrows(IllegalBlockingModeException.class, () -> out.write(1));
        }
    }

    @Test
    void closeEndsAReadFromTheStream() throws Exception {
        try (Pair pair = variant.pair()) {
            InputStream in = pair.client().socket().getInputStream();
            Wait.Task<Integer> reader = Wait.start(in::read).blockedIn("read");
            in.close();
            assertInstanceOf(AsynchronousCloseException.class, reader.failure());
            assertFalse(pair.client().isOpen());
        }
    }

    @Test
    void shutdownThroughTheAdaptor() throws Exception {
        try (Pair pair = variant.pair()) {
            Socket socket = pair.client().socket();
            InputStream in = socket.getInputStream();
            socket.shutdownInput();
            assertTrue(socket.isInputShutdown());
            assertEquals(-1, in.read());
            assertEquals(
                    "Socket input is shutdown",
                    assertThrows(SocketException.class, socket::getInputStream).getMessage());
            socket.shutdownOutput();
            assertTrue(socket.isOutputShutdown());
            assertThrows(SocketException.class, socket::getOutputStream);
            assertEquals(-1, pair.server().read(ByteBuffer.allocate(1)));
        }
    }

    @Test
    void connectThroughTheAdaptor() throws Exception {
        for (int timeoutMs : new int[] {0, 5000}) {
            try (ServerSocketChannel listener = variant.listen();
                    SocketChannel client = variant.open()) {
                client.socket().connect(listener.getLocalAddress(), timeoutMs);
                try (SocketChannel server = listener.accept()) {
                    variant.checked(new Pair(client, server));
                }
                SocketException e = assertThrows(
                        SocketException.class, () -> client.socket().connect(listener.getLocalAddress()));
                assertEquals("Already connected", e.getMessage());
            }
        }
    }

    @Test
    void connectThroughTheAdaptorFails() throws Exception {
        InetSocketAddress refusing;
        try (ServerSocketChannel listener = variant.listen()) {
            refusing = (InetSocketAddress) listener.getLocalAddress();
        }
        for (int timeoutMs : new int[] {0, 5000}) {
            try (SocketChannel client = variant.open()) {
                ConnectException e = assertThrows(
                        ConnectException.class, () -> client.socket().connect(refusing, timeoutMs));
                assertEquals("Connection refused", e.getMessage());
                assertFalse(client.isOpen());
            }
        }
        try (SocketChannel client = variant.open()) {
            InetSocketAddress unresolved = InetSocketAddress.createUnresolved("no.such.host", 1);
            assertThrows(UnknownHostException.class, () -> client.socket().connect(unresolved));
            assertFalse(client.isOpen());
        }
        try (SocketChannel client = variant.open()) {
            assertThrows(IllegalArgumentException.class, () -> client.socket().connect(null));
            assertThrows(IllegalArgumentException.class, () -> client.socket().connect(refusing, -1));
            client.configureBlocking(false);
            assertThrows(
                    IllegalBlockingModeException.class, () -> client.socket().connect(refusing));
            assertTrue(client.isOpen());
        }
    }

    @Test
    void bindThroughTheAdaptor() throws Exception {
        try (SocketChannel client = variant.open()) {
            client.socket().bind(null);
            assertTrue(client.socket().isBound());
            assertEquals(
                    "Already bound",
                    assertThrows(SocketException.class, () -> client.socket().bind(null))
                            .getMessage());
        }
    }

    @Test
    void acceptTimesOut() throws Exception {
        for (boolean virtual : new boolean[] {false, true}) {
            try (ServerSocketChannel listener = variant.listen()) {
                Wait.Task<Void> acceptor = Wait.start(virtual, () -> {
                    ServerSocket socket = listener.socket();
                    socket.setSoTimeout(40);
                    assertEquals(40, socket.getSoTimeout());
                    long start = System.nanoTime();
                    SocketTimeoutException e = assertThrows(SocketTimeoutException.class, socket::accept);
                    assertEquals("Accept timed out", e.getMessage());
                    assertTrue(System.nanoTime() - start >= 40_000_000);
                    try (SocketChannel client = variant.open()) {
                        client.connect(listener.getLocalAddress());
                        try (Socket accepted = socket.accept()) {
                            variant.checked(new Pair(client, accepted.getChannel()));
                        }
                    }
                    return null;
                });
                acceptor.get();
            }
        }
    }

    @Test
    void serverSocketAdaptorTellsItsState() throws Exception {
        try (ServerSocketChannel channel = variant.provider().openServerSocketChannel()) {
            ServerSocket socket = channel.socket();
            assertFalse(socket.isBound());
            assertEquals(-1, socket.getLocalPort());
            assertNull(socket.getInetAddress());
            assertNull(socket.getLocalSocketAddress());
            assertEquals("ServerSocket[unbound]", socket.toString());
            assertThrows(SocketException.class, socket::accept);
            socket.setReuseAddress(true);
            assertTrue(socket.getReuseAddress());
            socket.setReceiveBufferSize(100_000);
            assertEquals(100_000, socket.getReceiveBufferSize());
            socket.bind(new InetSocketAddress(Variant.loopback(), 0), 5);
            assertTrue(socket.isBound());
            assertEquals(channel.getLocalAddress(), socket.getLocalSocketAddress());
            assertEquals(((InetSocketAddress) channel.getLocalAddress()).getPort(), socket.getLocalPort());
            assertThrows(SocketException.class, () -> socket.bind(null));
            channel.configureBlocking(false);
            assertThrows(IllegalBlockingModeException.class, socket::accept);
            socket.close();
            assertTrue(socket.isClosed());
            assertFalse(channel.isOpen());
            assertThrows(SocketException.class, socket::getSoTimeout);
        }
    }

    @Test
    void fileChannelsTransferToAndFrom(@TempDir Path directory) throws Exception {
        byte[] data = new byte[1 << 20];
        new Random(4).nextBytes(data);
        Path source = Files.write(directory.resolve("source"), data);
        Path target = Files.createFile(directory.resolve("target"));
        try (Pair pair = variant.pair();
                FileChannel from = FileChannel.open(source);
                FileChannel to = FileChannel.open(target, java.nio.file.StandardOpenOption.WRITE)) {
            Wait.Task<Void> sender = Wait.start(() -> {
                for (long sent = 0; sent < data.length; ) {
                    sent += from.transferTo(sent, data.length - sent, pair.client());
                }
                pair.client().shutdownOutput();
                return null;
            });
            for (long got = 0; got < data.length; ) {
                got += to.transferFrom(pair.server(), got, data.length - got);
            }
            sender.get();
        }
        assertArrayEquals(data, Files.readAllBytes(target));
    }

    @Test
    void objectStreamsWorkOverChannels() throws Exception {
        try (Pair pair = variant.pair()) {
            ObjectOutputStream out = new ObjectOutputStream(Channels.newOutputStream(pair.client()));
            out.writeObject(List.of("a", 1));
            out.flush();
            ObjectInputStream in = new ObjectInputStream(Channels.newInputStream(pair.server()));
            assertEquals(List.of("a", 1), in.readObject());
        }
    }
}
