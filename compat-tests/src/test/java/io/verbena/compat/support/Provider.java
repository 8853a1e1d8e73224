package io.verbena.compat.support;

import java.util.ArrayList;
import java.util.List;

/** Which provider a program's JVM runs with. The first is the oracle. */
public enum Provider {
    /** The JDK's own. */
    JDK_TCP,
    /** Verbena, told to leave everything to TCP. */
    VERBENA_TCP,
    /** Verbena over the embedded soft device. */
    VERBENA_SOFT;

    /** Whether Verbena is loaded. */
    public boolean isVerbena() {
        return this != JDK_TCP;
    }

    /** JVM options that select the provider. */
    List<String> options() {
        var options = new ArrayList<String>();
        if (isVerbena()) {
            options.add("-Djava.nio.channels.spi.SelectorProvider=io.verbena.spi.RdmaSelectorProvider");
            options.add("-Dio.verbena.mode=" + (this == VERBENA_TCP ? "tcp" : "auto"));
            options.add("--enable-native-access=ALL-UNNAMED");
        }
        return options;
    }
}
