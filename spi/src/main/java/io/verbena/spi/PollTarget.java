package io.verbena.spi;

import io.verbena.rdma.stream.ReadinessListener;

/** What a selector polls for a channel of ours: a stream, a connect under way, or a listener for streams. */
interface PollTarget {
    /** The operations that {@link #poll} can report, bits of {@code SelectionKey}. */
    int ops();

    /** A descriptor that becomes readable when there may be news; -1 if there is none. */
    int fd();

    /** Whether the descriptor stays readable as long as the target is ready, without arming. */
    boolean levelTriggered();

    /** The operations that are ready now. */
    int poll();

    /** Makes {@link #fd} tell of the next news, and polls once more after that. */
    int arm();

    /** Called when {@link #fd} was found readable, before {@link #poll}. */
    void consumeEvent();

    /** Adds a listener for news that other threads reap. */
    void addListener(ReadinessListener listener);

    /** Removes a listener; {@link #fd} may be closed by it. */
    void removeListener(ReadinessListener listener);
}
