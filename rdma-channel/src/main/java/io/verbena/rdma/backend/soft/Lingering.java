package io.verbena.rdma.backend.soft;

import io.verbena.rdma.sys.Linux;
import java.io.IOException;

/**
 * A connection whose id is destroyed, but whose peer has not yet reached the end: the socket stays until it has, so that
 * memory which the peer may still write is not used again.
 */
final class Lingering implements SoftEventChannel.Source {
    private final Connection connection;
    private final SoftEventChannel channel;

    private Lingering(Connection connection, SoftEventChannel channel) {
        this.connection = connection;
        this.channel = channel;
    }

    static void begin(Connection connection, SoftEventChannel channel) {
        Lingering lingering = new Lingering(connection, channel);
        try {
            channel.lingers(lingering); // first: the event may come before the next line
            channel.register(connection.fd(), Linux.EPOLLRDHUP, lingering);
        } catch (IOException e) {
            channel.lingersNoMore(lingering);
            lingering.abandon();
        }
    }

    @Override
    public void ready(int events) {
        // The event may be an old one, of another socket that had the same number.
        if (!connection.isPeerEnded()) {
            return;
        }
        channel.unregister(connection.fd(), this);
        channel.lingersNoMore(this);
        connection.peerEnded();
        connection.close();
    }

    /** Closes without having seen the peer's end: its blocks are not used again. */
    void abandon() {
        channel.unregister(connection.fd(), this);
        connection.close();
    }
}
