package io.verbena.spi;

import java.nio.channels.SelectableChannel;

/** A channel of ours, as a selector sees it. What it is made of changes as it connects: see {@link #innerTarget} and {@link #pollTarget}. */
interface WatchedChannel {
    /** The JDK channel whose readiness is this channel's, to be registered with a JDK selector; null if none. */
    SelectableChannel innerTarget();

    /** What is to be polled for this channel's readiness; null if nothing. */
    PollTarget pollTarget();

    /** The channel is registered with a selector by this key. */
    void keyAdded(RdmaKey key);

    /** The key is gone. */
    void keyRemoved(RdmaKey key);
}
