package io.verbena.rdma.stream;

import com.ibm.disni.verbs.RdmaCmId;
import io.verbena.rdma.cm.CmMessage;
import io.verbena.rdma.cm.ControlLoop;
import io.verbena.rdma.cm.Endpoint;
import io.verbena.rdma.protocol.PrivateData;
import io.verbena.rdma.protocol.PrivateDataException;
import io.verbena.rdma.protocol.RejectReason;
import io.verbena.rdma.protocol.StreamProtocol;
import io.verbena.rdma.protocol.VersionRange;
import io.verbena.rdma.verbs.ConnectionId;
import io.verbena.rdma.verbs.Device;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;

/**
 * A connection on its way to a listener: request, accept, established, HELLO. Belongs to the control thread, but for
 * {@link #complete}.
 *
 * <p>Who takes it out of the listener's set of incoming connections owns the stream: an accepting thread that found the
 * HELLO itself, or the control thread. While the control thread watches the stream's descriptor it is a listener of the
 * stream, so that the descriptor can't be closed, and its number used again, meanwhile. It is shown to the program only after the HELLO, so a client that gave up and went to TCP never shows twice.
 */
final class IncomingConnection {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.stream");

    private static final ReadinessListener WATCHING = () -> {};

    private final ControlLoop loop;
    private final VerbsListener listener;
    private final RdmaCmId id;
    private final int ringBytesLog2;

    private Endpoint endpoint;
    private volatile VerbsStream stream;
    private ControlLoop.Timer timeout;
    private boolean watching;
    private boolean over;

    IncomingConnection(ControlLoop loop, VerbsListener listener, RdmaCmId id, int ringBytesLog2) {
        this.loop = loop;
        this.listener = listener;
        this.id = id;
        this.ringBytesLog2 = ringBytesLog2;
    }

    void begin(ByteBuffer privateData) {
        try {
            PrivateData.Connect connect = PrivateData.decodeConnect(privateData);
            accept(connect);
        } catch (PrivateDataException e) {
            LOG.log(Level.DEBUG, "connect request refused", e);
            boolean version = e.fault() == PrivateDataException.Fault.VERSION;
            boolean unused = listener.failed(this);
            reject(version ? RejectReason.VERSION : RejectReason.MALFORMED);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "a connection over RDMA can't be accepted", e);
            abandon();
        }
    }

    private void accept(PrivateData.Connect connect) throws IOException {
        loop.bind(id, this::onEvent);
        timeout = loop.schedule(StreamSettings.CONNECT_TIMEOUT_MS * 1_000_000L, this::abandon);
        StreamShape shape = StreamShape.of((Device) id.getVerbs(), ringBytesLog2);
        endpoint = Endpoint.create(id, shape.sizes());
        var protocol = StreamProtocol.server(shape.terms(), connect.ring().terms(), shape.sendLimits());
        var peer = new PeerRing(connect.ring().ringAddress(), connect.ring().rkey());
        var made = new VerbsStream(endpoint, protocol, peer, address(id.getSource()), address(id.getDestination()));
        made.onDestroy(loop, () -> loop.unbind(id));
        stream = made;
        int version = VersionRange.SUPPORTED.common(connect.versions());
        var accept = new PrivateData.Accept(version, 0, 0, shape.offer(endpoint));
        ByteBuffer data = ByteBuffer.allocate(PrivateData.ACCEPT_BYTES);
        PrivateData.encode(accept, data);
        id.accept(StreamParts.connParam(data.flip()));
    }

    private static InetSocketAddress address(SocketAddress address) throws IOException {
        if (address instanceof InetSocketAddress inet) {
            return inet;
        }
        throw new IOException("the CM gives no IP address: " + address);
    }

    private void onEvent(CmMessage message) {
        if (over) {
            boolean lost = message.type() != CmMessage.Type.ESTABLISHED && message.type() != CmMessage.Type.OTHER;
            if (lost && stream != null) {
                stream.onDisconnected();
            }
            return;
        }
        switch (message.type()) {
            case ESTABLISHED -> awaitHello();
            case OTHER -> {}
            default -> abandon();
        }
    }

    private void awaitHello() {
        try {
            stream.addListener(WATCHING);
            watching = true;
            loop.watch(stream.fd(), this::look);
            armAndLook();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "can't wait for a connection's first message", e);
            abandon();
        }
    }

    private void look() {
        if (!over) {
            stream.consumeEvent();
            armAndLook();
        }
    }

    private void armAndLook() {
        int unused = stream.arm();
        if (complete() != null) {
            listener.completed(this);
        } else if (stream.ended()) {
            abandon();
        }
    }

    /** The stream if it may be shown to the program: reaps what came. By any thread. */
    VerbsStream complete() {
        VerbsStream made = stream;
        return made != null && made.established() ? made : null;
    }

    /** Gives up, unless an accepting thread has taken the stream: the peer gets a disconnect. */
    void abandon() {
        if (over) {
            return;
        }
        boolean ours = listener.failed(this);
        finish();
        if (!ours) {
            return;
        }
        if (stream != null) {
            stream.close(true);
        } else if (endpoint != null) {
            endpoint.close();
        } else {
            StreamParts.destroyQuietly(id);
        }
        loop.unbind(id);
    }

    /** Lets go of the stream, which is someone else's now. Idempotent. */
    void finish() {
        if (over) {
            return;
        }
        over = true;
        timeout.cancel();
        if (watching) {
            loop.unwatch(stream.fd());
            stream.removeListener(WATCHING);
        }
    }

    /** Refuses the request. */
    void reject(RejectReason reason) {
        over = true;
        ByteBuffer data = ByteBuffer.allocate(PrivateData.REJECT_BYTES);
        PrivateData.encodeReject(reason, data);
        try {
            ((ConnectionId) id).reject(data.flip());
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "rdma_reject failed", e);
        }
        StreamParts.destroyQuietly(id);
    }
}
