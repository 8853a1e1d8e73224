package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;

/**
 * A verbs provider: where event channels, and through them every other verbs object, come from.
 *
 * <p>All objects of a backend override the methods of DiSNI's classes themselves, so several backends live in one
 * JVM and nothing but the first event channel says which one is used. Thread-safe.
 */
public interface VerbsBackend {
    /** A short name for messages and counters: {@code "soft"}, {@code "foreign"}. */
    String name();

    /**
     * Makes an event channel of this backend (rdma_create_event_channel(3)).
     *
     * @throws IOException if the device or a descriptor can't be had; the message names limit and remedy
     */
    RdmaEventChannel createEventChannel() throws IOException;
}
