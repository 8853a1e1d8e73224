package io.verbena.spi;

import io.verbena.rdma.stream.Spin;
import java.util.Locale;

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
        return new Config(mode(System.getProperty(MODE, "auto")), System.getProperty(REPORT), Spin.configuredNs());
    }

    /** The defaults with another mode. */
    static Config of(Mode mode) {
        return new Config(mode, null, Spin.configuredNs());
    }

    static Mode mode(String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "auto" -> Mode.AUTO;
            case "tcp" -> Mode.TCP;
            default ->
                throw new IllegalArgumentException(MODE + "=" + value + " is not supported; allowed values: auto, tcp");
        };
    }
}
