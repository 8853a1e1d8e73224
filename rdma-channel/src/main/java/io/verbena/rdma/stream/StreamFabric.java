package io.verbena.rdma.stream;

import java.io.IOException;
import java.net.InetSocketAddress;

/** Where streams come from: the devices of this process and its one control thread. Thread-safe. */
public interface StreamFabric {
    /** The fabric of this process; opened lazily, costs nothing before the first use. */
    static StreamFabric get() {
        return StreamFabrics.fabric();
    }

    /**
     * Listens beside a TCP listener.
     *
     * @param twin the address the TCP listener is bound to and listens on (a real port)
     * @param backlog connections that may wait for accept
     * @param ringBytes receive-ring bytes of each accepted stream, 0 for the default
     * @throws IOException if streams can't be had on this port; the message says why and TCP still works
     */
    StreamListener listen(InetSocketAddress twin, int backlog, int ringBytes) throws IOException;

    /**
     * Whether a connect could be tried, judged without asking anyone (the address is local).
     *
     * @return null if so, else the reason to take TCP
     */
    Reason unreachable(InetSocketAddress remote);

    /**
     * Begins to connect. Never blocks for the peer and never throws for it: see {@link PendingConnect#failure}.
     *
     * @param local the address that the client's twin holds
     * @param remote the destination
     * @param ringBytes receive-ring bytes, 0 for the default
     * @param blocking whether the caller will {@link PendingConnect#await} at once: the handshake then runs on its own
     *     thread
     */
    PendingConnect connect(InetSocketAddress local, InetSocketAddress remote, int ringBytes, boolean blocking);
}
