package io.verbena.rdma.stream;

/**
 * Accepts streams on the port of a TCP listener (its twin). Connections are completed by the control thread, without
 * the program's help. Thread-safe.
 */
public interface StreamListener extends AutoCloseable {
    /**
     * The next completed connection, first in, first out.
     *
     * @return a stream, or null if there is none now or the listener is closed; never blocks
     */
    RdmaStream accept();

    /** Whether {@link #accept} has a connection now. */
    boolean acceptable();

    /**
     * A descriptor that is readable (poll(2)) while a connection may be waiting; it belongs to the listener. Level
     * triggered: {@link #accept} makes it unreadable when the queue is empty.
     */
    int fd();

    /** Stops listening; connections not yet accepted are reset, as TCP does it. Idempotent. */
    @Override
    void close();
}
