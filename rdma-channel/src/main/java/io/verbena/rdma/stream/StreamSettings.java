package io.verbena.rdma.stream;

import io.verbena.rdma.protocol.ProtocolLimits;

/** Sizes and times of streams, from system properties; read once. */
final class StreamSettings {
    /** Receive ring of a stream if the program sets no SO_RCVBUF: {@code io.verbena.ringBytes}. */
    static final int RING_BYTES = ringProperty();

    /** How long a connect may take: {@code io.verbena.connectTimeout}, in milliseconds. */
    static final long CONNECT_TIMEOUT_MS = intProperty("io.verbena.connectTimeout", 2_000, 1, 600_000, "milliseconds");

    /** With the control receives 8192, a power of two: the soft device's ring has as many entries. */
    static final int DATA_WRS = 8192 - ProtocolLimits.CONTROL_WRS;

    /** A word behind the receive ring tells how much of it was read; a cache line of its own. */
    static final int TRAILER_BYTES = 64;

    static final int SEND_WRS = 256;
    static final int SIGNAL_INTERVAL = 64;

    /** The send ring on devices that can't inline every message. */
    static final int SEND_RING_BYTES = 256 * 1024;

    /** How long a closed stream may take to deliver what is left, in nanoseconds. */
    static final long LINGER_NS = 10_000_000_000L;

    private StreamSettings() {}

    /** The ring for a wish of a program: the next power of two, never below the default. */
    static int ringBytesLog2(int wanted) {
        int bytes = Math.clamp(wanted, RING_BYTES, 1 << ProtocolLimits.MAX_RING_BYTES_LOG2);
        return Integer.SIZE - Integer.numberOfLeadingZeros(bytes - 1);
    }

    private static int ringProperty() {
        int least = 1 << ProtocolLimits.MIN_RING_BYTES_LOG2;
        int most = 1 << ProtocolLimits.MAX_RING_BYTES_LOG2;
        int bytes =
                intProperty("io.verbena.ringBytes", 1 << ProtocolLimits.DEFAULT_RING_BYTES_LOG2, least, most, "bytes");
        if (Integer.bitCount(bytes) != 1) {
            throw new IllegalArgumentException("io.verbena.ringBytes=" + bytes + ": expected a power of two");
        }
        return bytes;
    }

    private static int intProperty(String name, int fallback, int min, int max, String unit) {
        String value = System.getProperty(name);
        if (value == null) {
            return fallback;
        }
        try {
            int number = Integer.parseInt(value.trim());
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(expected(name, value, min, max, unit), e);
        }
        throw new IllegalArgumentException(expected(name, value, min, max, unit));
    }

    private static String expected(String name, String value, int min, int max, String unit) {
        return name + "=" + value + ": expected " + unit + " from " + min + " to " + max;
    }
}
