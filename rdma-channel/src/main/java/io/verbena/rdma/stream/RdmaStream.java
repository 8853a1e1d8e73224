package io.verbena.rdma.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * A bidirectional byte stream over one queue pair, with TCP's semantics.
 *
 * <p>Thread-safe: one reader and one writer proceed at once, several of a kind take turns; {@link #close} may come
 * from any thread at any time. No method but {@link #await} blocks. Nothing is left to be posted after a method
 * returns.
 *
 * <p>Failures: after a reset {@code IOException("Connection reset")} (read: once all that arrived before is read);
 * writing after the peer closed {@code IOException("Broken pipe")}; any use after {@link #close}
 * {@code java.nio.channels.ClosedChannelException}.
 */
public interface RdmaStream {
    /** Readiness: data, end of stream, or an error can be read without waiting. */
    int READABLE = 1;
    /** Readiness: at least one byte can be written, or a write would fail at once. */
    int WRITABLE = 4;

    /** The local address: the twin's, or the listener's port for an accepted stream. */
    InetSocketAddress localAddress();

    /** The peer's address. */
    InetSocketAddress remoteAddress();

    /** The transport that carries this stream, for counters: {@code "soft"}, {@code "roce"}, … */
    String transport();

    /**
     * Reads what there is, up to the buffer's remaining bytes.
     *
     * @return bytes read, 0 if none are there now (or none wanted), -1 at the end of the stream
     */
    int read(ByteBuffer dst) throws IOException;

    /** As {@link #read(ByteBuffer)}, into several buffers in turn. */
    long read(ByteBuffer[] dsts, int offset, int length) throws IOException;

    /**
     * Writes what the peer's ring has room for.
     *
     * @return bytes posted, 0 if there is no room now (or nothing to write)
     */
    int write(ByteBuffer src) throws IOException;

    /** As {@link #write(ByteBuffer)}, from several buffers in turn; small ones are gathered into one message. */
    long write(ByteBuffer[] srcs, int offset, int length) throws IOException;

    /** Bytes that {@link #read} would return without waiting (0 at the end or after a reset). */
    int available();

    /**
     * Reaps completions.
     *
     * @return {@link #READABLE} and {@link #WRITABLE} bits as of now; both after close
     */
    int poll();

    /**
     * Blocks until one of {@code ops} is ready, the stream is closed, {@link #wakeWaiters} is called, or the time is
     * over: polls, then arms and sleeps. For virtual threads parks. The caller looks again at what it waited for; early
     * returns are legal. Interruption does not end it (the channel's close does).
     *
     * @param ops bits
     * @param timeoutNs nanoseconds, 0 or less waits for ever
     */
    void await(int ops, long timeoutNs) throws IOException;

    /** Makes every {@link #await} under way return. */
    void wakeWaiters();

    /** No more reads: data that arrived and that still comes is dropped, read gives -1. Idempotent. */
    void shutdownInput() throws IOException;

    /** No more writes: the peer reads all that was written, then -1. Idempotent. */
    void shutdownOutput() throws IOException;

    /**
     * Closes: what was written is still delivered, then the peer reads -1; with unread input, or {@code reset}, the
     * peer gets a reset. Returns at once. Idempotent.
     */
    void close(boolean reset);

    /** Whether {@link #close} was called. */
    boolean isClosed();

    // --- for selectors ---------------------------------------------------------------------------------------------

    /** The completion channel's descriptor: readable when an armed completion queue got something. Owned by us. */
    int fd();

    /**
     * Arms the completion queue: afterwards {@link #fd} becomes readable with the next completion. Reaps once more
     * after arming.
     *
     * @return the readiness found by that; sleep only if nothing of interest is in it
     */
    int arm();

    /** To be called by a thread that found {@link #fd} readable, before it polls: consumes the event. */
    void consumeEvent();

    /**
     * Adds a listener for changes made by other threads' reaping, {@link #close} or {@link #wakeWaiters}. While any
     * listener is there the descriptor stays open, also after {@link #close}.
     */
    void addListener(ReadinessListener listener);

    /** Removes a listener; the descriptor of a closed stream goes with the last. */
    void removeListener(ReadinessListener listener);
}
