package io.verbena.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.verbena.spi.Variant.Pair;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NetworkChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Socket options: the JDK's set, and what was set is what is got. */
@ParameterizedClass
@MethodSource("io.verbena.spi.Variant#all")
class OptionsTest {
    private final Variant variant;

    OptionsTest(Variant variant) {
        this.variant = variant;
    }

    private static <T> void roundTrip(NetworkChannel channel, SocketOption<T> option, T value) throws IOException {
        channel.setOption(option, value);
        assertEquals(value, channel.getOption(option), () -> option + " of " + channel);
    }

    private static void roundTripAll(NetworkChannel channel) throws IOException {
        for (boolean on : new boolean[] {true, false}) {
            roundTrip(channel, StandardSocketOptions.TCP_NODELAY, on);
            roundTrip(channel, StandardSocketOptions.SO_KEEPALIVE, on);
            roundTrip(channel, StandardSocketOptions.SO_REUSEADDR, on);
            roundTrip(channel, StandardSocketOptions.SO_REUSEPORT, on);
        }
        roundTrip(channel, StandardSocketOptions.SO_LINGER, 7);
        roundTrip(channel, StandardSocketOptions.SO_LINGER, -1);
        roundTrip(channel, StandardSocketOptions.SO_RCVBUF, 100_000);
        roundTrip(channel, StandardSocketOptions.SO_SNDBUF, 100_000);
        roundTrip(channel, StandardSocketOptions.IP_TOS, 0x10);
        roundTrip(channel, ExtendedSocketOptions.TCP_KEEPIDLE, 11);
        roundTrip(channel, ExtendedSocketOptions.TCP_KEEPINTERVAL, 12);
        roundTrip(channel, ExtendedSocketOptions.TCP_KEEPCOUNT, 13);
    }

    @Test
    void supportedOptionsAreTheJdks() throws Exception {
        try (SocketChannel jdk = Variant.JDK.open();
                SocketChannel channel = variant.open();
                ServerSocketChannel jdkListener = Variant.JDK.listen();
                ServerSocketChannel listener = variant.listen();
                Pair pair = variant.pair(listener)) {
            assertEquals(jdk.supportedOptions(), channel.supportedOptions());
            assertEquals(jdk.supportedOptions(), pair.client().supportedOptions());
            assertEquals(jdk.supportedOptions(), pair.server().supportedOptions());
            assertEquals(jdkListener.supportedOptions(), listener.supportedOptions());
        }
    }

    @Test
    void whatWasSetIsGotOnAnUnconnectedChannel() throws Exception {
        try (SocketChannel channel = variant.open()) {
            roundTripAll(channel);
        }
    }

    @Test
    void whatWasSetIsGotOnBothEndsOfAConnection() throws Exception {
        try (Pair pair = variant.pair()) {
            roundTripAll(pair.client());
            roundTripAll(pair.server());
        }
    }

    @Test
    void everySupportedOptionCanBeRead() throws Exception {
        try (Pair pair = variant.pair()) {
            for (NetworkChannel channel : List.of(pair.client(), pair.server())) {
                for (SocketOption<?> option : channel.supportedOptions()) {
                    assertTrue(option.type().isInstance(channel.getOption(option)), option::name);
                }
            }
        }
    }

    @Test
    void optionsSetBeforeConnectAreKept() throws Exception {
        try (ServerSocketChannel listener = variant.listen();
                SocketChannel client = variant.open()) {
            client.setOption(StandardSocketOptions.TCP_NODELAY, true);
            client.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            client.setOption(StandardSocketOptions.SO_RCVBUF, 300_000);
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                variant.checked(new Pair(client, server));
                assertTrue(client.getOption(StandardSocketOptions.TCP_NODELAY));
                assertTrue(client.getOption(StandardSocketOptions.SO_KEEPALIVE));
                assertEquals(300_000, client.getOption(StandardSocketOptions.SO_RCVBUF));
            }
        }
    }

    @Test
    void optionsSurviveTheFallBackToTcp() throws Exception {
        try (ServerSocketChannel listener = Variant.JDK.listen();
                SocketChannel client = variant.open()) {
            client.setOption(StandardSocketOptions.TCP_NODELAY, true);
            client.setOption(StandardSocketOptions.SO_LINGER, 5);
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                assertTrue(server.isConnected());
                assertTrue(client.getOption(StandardSocketOptions.TCP_NODELAY));
                assertEquals(5, client.getOption(StandardSocketOptions.SO_LINGER));
            }
        }
    }

    @Test
    void smallReceiveBufferStillTakes256KiB() throws Exception {
        if (variant != Variant.SOFT) {
            return; // TCP takes what SO_RCVBUF and SO_SNDBUF say
        }
        try (ServerSocketChannel listener = variant.provider().openServerSocketChannel()) {
            listener.setOption(StandardSocketOptions.SO_RCVBUF, 1000);
            listener.bind(new java.net.InetSocketAddress(Variant.loopback(), 0));
            try (Pair pair = variant.pair(listener).nonBlocking()) {
                long written = 0;
                int n;
                while ((n = pair.client().write(ByteBuffer.allocate(8192))) > 0) {
                    written += n;
                }
                assertTrue(written >= 256 << 10, "took " + written);
            }
        }
    }

    @Test
    void badValuesAreRefused() throws Exception {
        try (Pair pair = variant.pair()) {
            for (SocketChannel channel : List.of(pair.client(), pair.server())) {
                assertThrows(
                        IllegalArgumentException.class, () -> channel.setOption(StandardSocketOptions.SO_RCVBUF, -1));
                assertThrows(
                        IllegalArgumentException.class, () -> channel.setOption(StandardSocketOptions.IP_TOS, 256));
                assertThrows(
                        IllegalArgumentException.class, () -> channel.setOption(StandardSocketOptions.SO_SNDBUF, null));
                assertThrows(NullPointerException.class, () -> channel.setOption(null, 1));
                assertThrows(NullPointerException.class, () -> channel.getOption(null));
                assertThrows(
                        UnsupportedOperationException.class,
                        () -> channel.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1));
                assertThrows(
                        UnsupportedOperationException.class,
                        () -> channel.getOption(StandardSocketOptions.IP_MULTICAST_TTL));
                assertThrows(
                        SocketException.class, () -> channel.setOption(ExtendedSocketOptions.SO_INCOMING_NAPI_ID, 1));
                assertThrows(SocketException.class, () -> channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 0));
            }
        }
    }

    @Test
    void closedChannelRefusesOptions() throws Exception {
        SocketChannel channel = variant.open();
        channel.close();
        assertThrows(ClosedChannelException.class, () -> channel.setOption(StandardSocketOptions.TCP_NODELAY, true));
        assertThrows(ClosedChannelException.class, () -> channel.getOption(StandardSocketOptions.TCP_NODELAY));
        assertFalse(channel.supportedOptions().isEmpty());
    }
}
