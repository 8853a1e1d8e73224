package io.verbena.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The provider itself: how it is found, configured, and what it reports. */
class ProviderTest {
    /** Runs in a JVM of its own, with the property set. */
    static final class Program {
        private Program() {}

        /** Connects to its own listener through a selector, sends 5 bytes, and prints what carried them. */
        public static void main(String[] args) throws IOException {
            if (args.length > 0) {
                check(SelectorProvider.provider().getClass() == RdmaSelectorProvider.class, "provider");
            }
            try (ServerSocketChannel listener = ServerSocketChannel.open();
                    Selector selector = Selector.open();
                    SocketChannel client = SocketChannel.open()) {
                listener.bind(new InetSocketAddress(Variant.loopback(), 0));
                client.connect(listener.getLocalAddress());
                try (SocketChannel server = listener.accept()) {
                    server.configureBlocking(false);
                    server.register(selector, SelectionKey.OP_READ);
                    check(client.write(ByteBuffer.allocate(5)) == 5, "write");
                    check(selector.select(10_000) == 1, "select");
                    check(server.read(ByteBuffer.allocate(10)) == 5, "read");
                    System.out.println("client " + client);
                }
            }
        }

        private static void check(boolean condition, String what) {
            if (!condition) {
                throw new AssertionError(what);
            }
        }
    }

    private record Result(int status, String output) {}

    private static Result run(List<String> flags, String... args) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.add("--enable-native-access=ALL-UNNAMED");
        command.add("-Djava.nio.channels.spi.SelectorProvider=" + RdmaSelectorProvider.class.getName());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Program.class.getName()));
        command.addAll(List.of(args));
        Path out = Files.createTempFile("verbena", ".out");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(out.toFile())
                    .start();
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("the program hangs: " + Files.readString(out));
            }
            return new Result(process.exitValue(), Files.readString(out, StandardCharsets.UTF_8));
        } finally {
            Files.delete(out);
        }
    }

    @Test
    void propertyMakesItTheProviderOfAProgram() throws Exception {
        Result result = run(List.of("-Dio.verbena.mode=tcp"), "expect");
        assertEquals(0, result.status(), result.output());
        assertTrue(result.output().contains("via tcp"), result.output());
    }

    @Test
    void providerWorksWithJavaBaseAlone() throws Exception {
        Result result = run(List.of("--limit-modules", "java.base", "-Dio.verbena.mode=tcp"), "expect");
        assertEquals(0, result.status(), result.output());
        assertTrue(result.output().contains("via tcp"), result.output());
    }

    @Test
    void modeThatIsNotThereIsRefusedByName() throws Exception {
        Result result = run(List.of("-Dio.verbena.mode=rdma"));
        assertTrue(result.status() != 0);
        assertTrue(
                result.output().contains("io.verbena.mode=rdma is not supported; allowed values: auto, tcp"),
                result.output());
        assertThrows(IllegalArgumentException.class, () -> Config.mode("TCPP"));
        assertEquals(Config.Mode.AUTO, Config.mode("Auto"));
    }

    @Test
    void reportIsWrittenAtExit(@TempDir Path directory) throws Exception {
        Result result =
                run(List.of("-Dio.verbena.mode=tcp", "-Dio.verbena.report=" + directory.resolve("report.%p.txt")));
        assertEquals(0, result.status(), result.output());
        File[] files = directory.toFile().listFiles();
        assertEquals(1, assertNotNullAndReturn(files).length);
        assertTrue(files[0].getName().matches("report\\.\\d+\\.txt"), files[0].getName());
        List<String> lines = Files.readAllLines(files[0].toPath());
        assertTrue(lines.contains("connections.tcp=1"), lines::toString);
        assertTrue(lines.contains("accepted.tcp=1"), lines::toString);
        assertTrue(lines.contains("bytesIn.tcp=5"), lines::toString);
        assertTrue(lines.contains("bytesOut.tcp=5"), lines::toString);
        assertTrue(lines.contains("connections.soft=0"), lines::toString);
        assertTrue(lines.contains("reason.MODE_TCP=1"), lines::toString);
    }

    private static <T> T assertNotNullAndReturn(T value) {
        assertNotNull(value);
        return value;
    }

    @Test
    void countersTellWhatCarriedAConnection() throws Exception {
        Map<String, Long> before = VerbenaStats.snapshot();
        try (Variant.Pair pair = Variant.TCP.pair()) {
            pair.client().write(ByteBuffer.allocate(100));
        }
        Map<String, Long> after = VerbenaStats.snapshot();
        assertEquals(before.get("connections.tcp") + 1, after.get("connections.tcp"));
        assertEquals(before.get("accepted.tcp") + 1, after.get("accepted.tcp"));
        assertEquals(before.get("bytesOut.tcp") + 100, after.get("bytesOut.tcp"));
        assertThrows(IllegalArgumentException.class, () -> VerbenaStats.get("no.such"));
    }

    @Test
    void bytesOfOpenAndClosedStreamsAreCounted() throws Exception {
        if (!Variant.all().contains(Variant.SOFT)) {
            return;
        }
        long before = VerbenaStats.get("bytesOut.soft");
        Variant.Pair pair = Variant.SOFT.pair();
        pair.client().write(ByteBuffer.allocate(100));
        assertEquals(before + 100, VerbenaStats.get("bytesOut.soft"));
        pair.close();
        assertEquals(before + 100, VerbenaStats.get("bytesOut.soft"));
    }

    @Test
    void whatIsNotOursComesFromTheJdk() throws Exception {
        SelectorProvider provider = Variant.TCP.provider();
        String jdks = "sun.nio.ch.";
        var datagram = provider.openDatagramChannel();
        var datagram4 = provider.openDatagramChannel(StandardProtocolFamily.INET);
        var pipe = provider.openPipe();
        var unix = provider.openSocketChannel(StandardProtocolFamily.UNIX);
        var unixListener = provider.openServerSocketChannel(StandardProtocolFamily.UNIX);
        for (var channel : List.of(datagram, datagram4, pipe.source(), pipe.sink(), unix, unixListener)) {
            assertTrue(channel.getClass().getName().startsWith(jdks), channel::toString);
            channel.close();
        }
        Object inherited = provider.inheritedChannel();
        assertTrue(inherited == null || inherited.getClass().getName().startsWith(jdks));
    }

    @Test
    void ourChannelsAndSelectorsNameOurProvider() throws Exception {
        SelectorProvider provider = Variant.TCP.provider();
        try (SocketChannel channel = provider.openSocketChannel();
                ServerSocketChannel listener = provider.openServerSocketChannel();
                Selector selector = provider.openSelector()) {
            assertSame(provider, channel.provider());
            assertSame(provider, listener.provider());
            assertSame(provider, selector.provider());
        }
        assertThrows(NullPointerException.class, () -> provider.openSocketChannel(null));
        assertThrows(NullPointerException.class, () -> provider.openServerSocketChannel(null));
    }

    @Test
    void otherNetworkClassesWorkBesideIt() throws Exception {
        try (ServerSocketChannel ours = Variant.TCP.listen();
                ServerSocket socket = new ServerSocket(0, 1, Variant.loopback());
                DatagramSocket datagram = new DatagramSocket();
                AsynchronousServerSocketChannel asynchronous = AsynchronousServerSocketChannel.open();
                AsynchronousSocketChannel client = AsynchronousSocketChannel.open()) {
            asynchronous.bind(new InetSocketAddress(Variant.loopback(), 0));
            client.connect(ours.getLocalAddress()).get(10, TimeUnit.SECONDS);
            ours.accept().close();
            assertTrue(socket.getLocalPort() > 0 && datagram.getLocalPort() > 0);
        }
    }

    @Test
    void jdkProviderIsFoundByJniToo() throws Exception {
        SelectorProvider provider = JdkProvider.byJni();
        assertEquals("sun.nio.ch.EPollSelectorProvider", provider.getClass().getName());
        provider.openSelector().close();
        assertNull(System.getProperties().get("io.verbena.spi.handover"));
    }

    @Test
    void jdkProviderIsFoundByReflection() throws Exception {
        assertEquals(
                "sun.nio.ch.EPollSelectorProvider",
                JdkProvider.byReflectionFactory().getClass().getName());
        assertSame(JdkProvider.get(), JdkProvider.get());
    }
}
