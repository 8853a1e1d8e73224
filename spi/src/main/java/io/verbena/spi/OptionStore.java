package io.verbena.spi;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The socket options that the program set on a channel, and for a channel without a JDK socket (an accepted stream)
 * the values of those it did not set.
 *
 * <p>Not thread-safe: guarded by the channel's {@code stateLock}.
 */
final class OptionStore {
    private static final int MIN_RING_BYTES = 256 << 10;
    private static final int MAX_RING_BYTES = 1 << 30;

    /** What a socket of the JDK supports and says before anything is set; null before {@link #loadDefaults}. */
    private static volatile Map<SocketOption<?>, Object> defaults;

    private final Map<SocketOption<?>, Object> set = new LinkedHashMap<>();

    /** Must have succeeded once before options of a channel without a JDK socket are asked for. */
    static void loadDefaults() throws IOException {
        if (defaults != null) {
            return;
        }
        try (SocketChannel channel = JdkProvider.get().openSocketChannel()) {
            Map<SocketOption<?>, Object> values = new HashMap<>();
            for (SocketOption<?> option : channel.supportedOptions()) {
                values.put(option, channel.getOption(option));
            }
            defaults = Map.copyOf(values);
        }
    }

    /** The options of a channel without a JDK socket: those of the JDK's. */
    static Set<SocketOption<?>> supported() {
        return defaults.keySet();
    }

    void record(SocketOption<?> option, Object value) {
        set.put(option, value);
    }

    /** Records what the JDK would set on a socket, with its checks. */
    void recordChecked(SocketOption<?> option, Object value) throws SocketException {
        set.put(option, check(option, value));
    }

    private static Object check(SocketOption<?> option, Object value) throws SocketException {
        if (option.name().equals("SO_INCOMING_NAPI_ID")) {
            throw new SocketException("Attempt to set read only option SO_INCOMING_NAPI_ID");
        }
        if (!(value instanceof Integer i)) {
            return value;
        }
        if (option.equals(StandardSocketOptions.SO_LINGER)) {
            return Math.clamp(i, -1, 65535);
        }
        if (option.equals(StandardSocketOptions.IP_TOS) && (i < 0 || i > 255)) {
            throw new IllegalArgumentException("Invalid IP_TOS value");
        }
        boolean size = option.equals(StandardSocketOptions.SO_RCVBUF) || option.equals(StandardSocketOptions.SO_SNDBUF);
        if (size && i < 0) {
            throw new IllegalArgumentException("Invalid send/receive buffer size");
        }
        if (option.name().startsWith("TCP_KEEP") && (i < 1 || i > 32767)) {
            throw new SocketException("Invalid argument");
        }
        return value;
    }

    /** What was set, else the default. */
    Object get(SocketOption<?> option) {
        Object value = set.get(option);
        return value != null ? value : defaults.get(option);
    }

    /** Receive-ring bytes by {@code SO_RCVBUF}: a power of two, at least 256 KiB; 0 if it was not set. */
    int ringBytes() {
        return ringBytes((Integer) set.get(StandardSocketOptions.SO_RCVBUF));
    }

    static int ringBytes(Integer rcvBuf) {
        if (rcvBuf == null) {
            return 0;
        }
        int bytes = Math.clamp(rcvBuf, MIN_RING_BYTES, MAX_RING_BYTES);
        int floor = Integer.highestOneBit(bytes);
        return floor == bytes ? bytes : floor << 1;
    }

    /** Whether close is to reset the connection: {@code SO_LINGER} 0. */
    boolean lingersZero() {
        return Integer.valueOf(0).equals(set.get(StandardSocketOptions.SO_LINGER));
    }

    /** Sets on another socket what was set here. */
    void copyTo(SocketChannel channel) throws IOException {
        for (Map.Entry<SocketOption<?>, Object> entry : set.entrySet()) {
            copy(channel, entry.getKey(), entry.getValue());
        }
    }

    private static <T> void copy(SocketChannel channel, SocketOption<T> option, Object value) throws IOException {
        channel.setOption(option, option.type().cast(value));
    }
}
