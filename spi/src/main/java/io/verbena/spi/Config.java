package io.verbena.spi;

import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * The settings, read from system properties when the provider is made.
 *
 * @param mode which transports may be used
 * @param reportFile where the counters go at the end of the JVM, or null
 * @param spinNs how long a select spins at most before it sleeps, nanoseconds
 */
record Config(Mode mode, String reportFile, long spinNs) {
    static final String MODE = "io.verbena.mode";
    static final String REPORT = "io.verbena.report";
    static final String SPIN = "io.verbena.spin";

    private static final long DEFAULT_SPIN_US = 50;
    private static final long MAX_SPIN_US = 1_000_000;

    /** The value of {@code io.verbena.mode}. */
    enum Mode {
        /** Streams where they can be had, else TCP. */
        AUTO,
        /** TCP only. */
        TCP
    }

    /**
     * Reads the system properties.
     *
     * @throws IllegalArgumentException if one has a value that is not allowed; the message names both
     */
    static Config fromSystemProperties() {
        return new Config(
                mode(System.getProperty(MODE, "auto")),
                System.getProperty(REPORT),
                TimeUnit.MICROSECONDS.toNanos(spinUs(System.getProperty(SPIN))));
    }

    /** The defaults with another mode. */
    static Config of(Mode mode) {
        return new Config(mode, null, TimeUnit.MICROSECONDS.toNanos(DEFAULT_SPIN_US));
    }

    static Mode mode(String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "auto" -> Mode.AUTO;
            case "tcp" -> Mode.TCP;
            default ->
                throw new IllegalArgumentException(MODE + "=" + value + " is not supported; allowed values: auto, tcp");
        };
    }

    private static long spinUs(String value) {
        if (value == null) {
            return DEFAULT_SPIN_US;
        }
        try {
            long us = Long.parseLong(value);
            if (us >= 0 && us <= MAX_SPIN_US) {
                return us;
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        throw new IllegalArgumentException(
                SPIN + "=" + value + " is not a number of microseconds from 0 to " + MAX_SPIN_US);
    }
}
