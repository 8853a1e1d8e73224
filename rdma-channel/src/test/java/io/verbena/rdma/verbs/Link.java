package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;

/** Two connected endpoints in one process. */
final class Link implements AutoCloseable {
    final ServerSocketChannel twin;
    final RdmaEventChannel serverChannel;
    final RdmaEventChannel clientChannel;
    final InetSocketAddress address;
    final RdmaCmId listener;
    Endpoint server;
    Endpoint client;

    private Link() throws IOException {
        twin = ServerSocketChannel.open().bind(TestAddress.port(0));
        serverChannel = Verbs.backend().createEventChannel();
        clientChannel = Verbs.backend().createEventChannel();
        address = (InetSocketAddress) twin.getLocalAddress();
        if (RealDevice.transport() == DeviceTransport.IWARP) {
            twin.close(); // its listeners take the TCP port itself
        }
        listener = listen(serverChannel, address, 16);
    }

    static RdmaCmId listen(RdmaEventChannel channel, InetSocketAddress address, int backlog) throws IOException {
        RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
        id.bindAddr(address);
        id.listen(backlog);
        return id;
    }

    static Link open() throws IOException {
        return open(Endpoint.Caps.DEFAULT, Endpoint.Caps.DEFAULT);
    }

    static Link open(Endpoint.Caps clientCaps, Endpoint.Caps serverCaps) throws IOException {
        return open(clientCaps, serverCaps, ConnParam.RNR_RETRY_INFINITE);
    }

    static Link open(Endpoint.Caps clientCaps, Endpoint.Caps serverCaps, byte rnrRetries) throws IOException {
        Link link = new Link();
        link.client = new Endpoint(link.clientChannel, Endpoint.resolve(link.clientChannel, link.address), clientCaps);
        ConnParam param = Endpoint.param(link.client.describeRing());
        param.setRnr_retry_count(rnrRetries);
        link.client.id.connect(param);
        RdmaCmEvent request = Endpoint.expect(link.serverChannel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
        link.server = new Endpoint(link.serverChannel, request.getConnIdPriv(), serverCaps);
        link.server.learnRing(((ConnectionEvent) request).privateData());
        link.server.id.accept(Endpoint.param(link.server.describeRing()));
        RdmaCmEvent established = Endpoint.expect(link.clientChannel, EventType.RDMA_CM_EVENT_ESTABLISHED);
        link.client.learnRing(((ConnectionEvent) established).privateData());
        RdmaCmEvent unused = Endpoint.expect(link.serverChannel, EventType.RDMA_CM_EVENT_ESTABLISHED);
        return link;
    }

    @Override
    public void close() throws IOException {
        if (client != null) {
            client.close();
        }
        if (server != null) {
            server.close();
        }
        int unused = listener.destroyId();
        // Lets each side see the other's end.
        while (clientChannel.getCmEvent(0) != null || serverChannel.getCmEvent(0) != null) {}
        unused = clientChannel.destroyEventChannel();
        unused = serverChannel.destroyEventChannel();
        twin.close();
    }
}
