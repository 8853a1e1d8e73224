package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;

/** A listener with its TCP twin. */
final class Server implements AutoCloseable {
    final ServerSocketChannel twin;
    final RdmaEventChannel channel;
    final RdmaCmId listener;

    Server() throws IOException {
        this(TestAddress.port(0), 16);
    }

    Server(InetSocketAddress address, int backlog) throws IOException {
        twin = ServerSocketChannel.open().bind(address);
        channel = Verbs.backend().createEventChannel();
        listener = Link.listen(channel, (InetSocketAddress) twin.getLocalAddress(), backlog);
    }

    int port() {
        return twin.socket().getLocalPort();
    }

    /** Accepts one connection with so many receives posted, up to ESTABLISHED. */
    Endpoint accept(Endpoint.Caps caps, int receives) throws IOException {
        RdmaCmEvent request = Endpoint.expect(channel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
        Endpoint end = new Endpoint(channel, request.getConnIdPriv(), caps);
        end.learnRing(((ConnectionEvent) request).privateData());
        if (receives > 0) {
            end.postRecv(receives);
        }
        end.id.accept(Endpoint.param(end.describeRing()));
        RdmaCmEvent unused = Endpoint.expect(channel, EventType.RDMA_CM_EVENT_ESTABLISHED);
        return end;
    }

    @Override
    public void close() throws IOException {
        int unused = listener.destroyId();
        while (channel.getCmEvent(0) != null) {}
        unused = channel.destroyEventChannel();
        twin.close();
    }
}
