package io.verbena.rdma.stream;

import java.util.concurrent.TimeUnit;

/** A connect under way. Thread-safe. */
public interface PendingConnect {
    /** Whether the outcome is known. */
    boolean isDone();

    /**
     * Waits for the outcome. Interruption and {@link #cancel} end the wait early; the interrupt status stays set.
     *
     * @param timeout how long, 0 or less: as long as the connect itself may take
     * @return whether the outcome is known
     */
    boolean await(long timeout, TimeUnit unit);

    /** The stream, or null if the connect is not done or failed. */
    RdmaStream stream();

    /** Why there is no stream: null while not done and after success. */
    Reason failure();

    /** A descriptor that becomes readable when the outcome is known; it belongs to this object. -1 if done at once. */
    int fd();

    /** Gives up: a stream that exists or comes later is reset. Frees {@link #fd}. Idempotent. */
    void cancel();

    /** Frees {@link #fd} after success or failure; the stream is the caller's. Idempotent. */
    void release();
}
