package io.verbena.spi;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectableChannel;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;

/** The providers that the contract tests run on; the JDK's is the oracle. */
enum Variant {
    JDK,
    TCP,
    SOFT;

    /** Set to false where the soft device is not to be tested. */
    private static final boolean SOFT_ENABLED =
            !System.getProperty("verbena.test.soft", "true").equals("false");

    private static final SelectorProvider TCP_PROVIDER = new RdmaSelectorProvider(Config.of(Config.Mode.TCP));
    private static final SelectorProvider SOFT_PROVIDER = new RdmaSelectorProvider(Config.of(Config.Mode.AUTO));

    static List<Variant> all() {
        return SOFT_ENABLED ? List.of(JDK, TCP, SOFT) : List.of(JDK, TCP);
    }

    /** Those that are ours. */
    static List<Variant> verbena() {
        List<Variant> variants = new ArrayList<>(all());
        variants.remove(JDK);
        return variants;
    }

    SelectorProvider provider() {
        return switch (this) {
            case JDK -> SelectorProvider.provider();
            case TCP -> TCP_PROVIDER;
            case SOFT -> SOFT_PROVIDER;
        };
    }

    SocketChannel open() throws IOException {
        return provider().openSocketChannel();
    }

    Selector selector() throws IOException {
        return provider().openSelector();
    }

    /** A listener on the loopback address. */
    ServerSocketChannel listen() throws IOException {
        return provider().openServerSocketChannel().bind(new InetSocketAddress(loopback(), 0));
    }

    static InetAddress loopback() throws IOException {
        return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
    }

    static InetAddress loopback6() throws IOException {
        byte[] bytes = new byte[16];
        bytes[15] = 1;
        return InetAddress.getByAddress(bytes);
    }

    /** A connected pair, both blocking; what carries it is checked. */
    Pair pair() throws IOException {
        try (ServerSocketChannel listener = listen()) {
            return pair(listener);
        }
    }

    Pair pair(ServerSocketChannel listener) throws IOException {
        SocketChannel client = open();
        try {
            client.connect(listener.getLocalAddress());
            return checked(new Pair(client, listener.accept()));
        } catch (IOException | RuntimeException e) {
            client.close();
            throw e;
        }
    }

    /** Fails unless both ends are carried by what this variant is for. */
    Pair checked(Pair pair) {
        carriedAsItShould(pair.client());
        carriedAsItShould(pair.server());
        return pair;
    }

    private void carriedAsItShould(SocketChannel channel) {
        if (this != JDK) {
            String via = this == TCP ? " via tcp" : " via soft";
            assertTrue(channel.toString().contains(via), () -> channel + " should be" + via);
        }
    }

    /** Two ends of a connection. */
    record Pair(SocketChannel client, SocketChannel server) implements AutoCloseable {
        Pair nonBlocking() throws IOException {
            client.configureBlocking(false);
            server.configureBlocking(false);
            return this;
        }

        @Override
        public void close() throws IOException {
            for (SelectableChannel channel : List.of(client, server)) {
                channel.close();
            }
        }
    }
}
