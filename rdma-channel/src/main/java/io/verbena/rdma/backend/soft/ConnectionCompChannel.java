package io.verbena.rdma.backend.soft;

import java.io.IOException;

/**
 * A completion channel without a descriptor of its own: its descriptor is the connection's socket, readable when the
 * peer has woken us or is gone.
 *
 * <p>Completions made in this process (of sends, flushes) do not make it readable. They are found by the poll after
 * arming, and {@link #getCqEvent} sees them; whoever makes them for a sleeper wakes that sleeper. The descriptor lives
 * until the id is destroyed. Thread-safe.
 */
final class ConnectionCompChannel extends SoftCompChannel {
    private final Connection connection;
    private volatile boolean fired;

    ConnectionCompChannel(Connection connection, SoftContext context) throws IOException {
        super(connection.fd(), context);
        this.connection = connection;
    }

    @Override
    void attach(Connection other) throws IOException {
        if (other != connection) {
            throw new IOException("the completion channel belongs to another connection");
        }
    }

    @Override
    void detach(Connection other) {}

    @Override
    void fire() {
        fired = true;
    }

    @Override
    boolean takeEvent(SoftCq cq) {
        boolean local = fired;
        fired = false;
        return consume(connection, cq) != 0 || local;
    }

    @Override
    public int destroyCompChannel() {
        isOpen = false;
        return 0;
    }
}
