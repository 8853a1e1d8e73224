package io.verbena.rdma.stream;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.verbena.rdma.cm.CmMessage;
import io.verbena.rdma.cm.ControlLoop;
import io.verbena.rdma.cm.Endpoint;
import io.verbena.rdma.protocol.PrivateData;
import io.verbena.rdma.protocol.PrivateDataException;
import io.verbena.rdma.protocol.StreamProtocol;
import io.verbena.rdma.protocol.VersionRange;
import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.verbs.ConnectionId;
import io.verbena.rdma.verbs.Device;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * One connect, driven by CM events.
 *
 * <pre>
 * begin --resolveAddr--> ADDR_RESOLVED --resolveRoute--> ROUTE_RESOLVED --connect--> ESTABLISHED --HELLO--> done
 *    any error event, REJECTED, the time-out, cancel ------------------------------------------------> done (failed)
 * </pre>
 *
 * <p>Belongs to one thread at a time, its driver: the control thread ({@link BackgroundConnect}), or the connecting
 * thread until it is done ({@link InlineConnect}).
 */
final class ConnectAttempt {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.stream");

    /** How InfiniBand's CM says that nobody listens; other reject codes are positive too. */
    private static final int IB_CM_REJ_INVALID_SERVICE_ID = 8;

    private final ControlLoop loop;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final int ringBytesLog2;

    private RdmaCmId id;
    private RdmaEventChannel channel;
    private StreamShape shape;
    private Endpoint endpoint;
    private boolean done;
    private VerbsStream stream;
    private Reason failure;

    ConnectAttempt(ControlLoop loop, InetSocketAddress local, InetSocketAddress remote, int ringBytesLog2) {
        this.loop = loop;
        this.local = local;
        this.remote = remote;
        this.ringBytesLog2 = ringBytesLog2;
    }

    /**
     * Starts.
     *
     * @param events the channel that the driver reads
     * @param handler what hands the id's events to {@link #onEvent} once the control thread reads them
     */
    void begin(RdmaEventChannel events, Consumer<CmMessage> handler) {
        channel = events;
        try {
            id = events.createId(RdmaCm.RDMA_PS_TCP);
            loop.bind(id, handler);
            id.resolveAddr(local, remote, (int) StreamSettings.CONNECT_TIMEOUT_MS);
        } catch (IOException e) {
            fail(Reason.NO_RESOURCES, e);
        }
    }

    boolean isDone() {
        return done;
    }

    VerbsStream stream() {
        return stream;
    }

    Reason failure() {
        return failure;
    }

    /** Takes an event of the id: also those after the end of the connect, on the control thread. */
    void onEvent(CmMessage message) {
        try {
            handle(message);
        } catch (IOException e) {
            fail(Reason.NO_RESOURCES, e);
        }
    }

    private void handle(CmMessage message) throws IOException {
        if (done) {
            if (message.type() == CmMessage.Type.DISCONNECTED && stream != null) {
                stream.onDisconnected();
            }
            return;
        }
        switch (message.type()) {
            case ADDR_RESOLVED -> id.resolveRoute((int) StreamSettings.CONNECT_TIMEOUT_MS);
            case ROUTE_RESOLVED -> connect();
            case ESTABLISHED -> established(message);
            case REJECTED -> fail(rejected(message), cause(message));
            case DISCONNECTED -> fail(Reason.PEER_DIED, null);
            case OTHER -> {}
            default -> fail(reason(message.status()), cause(message));
        }
    }

    private static IOException cause(CmMessage message) {
        return new IOException(message.type() + " with status " + message.status());
    }

    private void connect() throws IOException {
        shape = StreamShape.of((Device) id.getVerbs(), ringBytesLog2);
        endpoint = Endpoint.create(id, shape.sizes());
        var offer = new PrivateData.Connect(
                VersionRange.SUPPORTED, 0, 0, shape.offer(endpoint), local.getPort(), local.getAddress());
        ByteBuffer data = ByteBuffer.allocate(PrivateData.CONNECT_BYTES);
        PrivateData.encode(offer, data);
        id.connect(StreamParts.connParam(data.flip()));
    }

    private void established(CmMessage message) throws IOException {
        PrivateData.Accept accept;
        try {
            accept = PrivateData.decodeAccept(message.privateData());
        } catch (PrivateDataException e) {
            boolean version = e.fault() == PrivateDataException.Fault.VERSION;
            fail(version ? Reason.VERSION : Reason.REJECTED, new IOException(e));
            return;
        }
        var protocol = StreamProtocol.client(shape.terms(), accept.ring().terms(), shape.sendLimits());
        var peer = new PeerRing(accept.ring().ringAddress(), accept.ring().rkey());
        var made = new VerbsStream(endpoint, protocol, peer, local, remote);
        RdmaCmId bound = id;
        made.onDestroy(loop, () -> loop.unbind(bound));
        made.sendHello();
        moveToControlThread();
        stream = made;
        done = true;
    }

    private static Reason rejected(CmMessage message) {
        try {
            return switch (PrivateData.decodeReject(message.privateData()).reason()) {
                case VERSION -> Reason.VERSION;
                case BACKLOG_FULL -> Reason.BACKLOG_FULL;
                default -> Reason.REJECTED;
            };
        } catch (PrivateDataException e) {
            return reason(message.status()); // the CM's own reject
        }
    }

    private static Reason reason(int status) {
        if (status == IB_CM_REJ_INVALID_SERVICE_ID) {
            return Reason.NO_LISTENER;
        }
        return switch (-status) {
            case Errno.ECONNREFUSED, Errno.ENOENT -> Reason.NO_LISTENER;
            case Errno.ENETUNREACH -> Reason.NOT_LOCAL;
            case Errno.EACCES, Errno.EPERM -> Reason.IMPOSTOR;
            case Errno.EMFILE, Errno.ENFILE, Errno.ENOMEM, Errno.ETOOMANYREFS, Errno.ENOBUFS -> Reason.NO_RESOURCES;
            case Errno.EAGAIN -> Reason.BACKLOG_FULL;
            case Errno.ETIMEDOUT -> Reason.TIMEOUT;
            case Errno.ECONNRESET -> Reason.PEER_DIED;
            default -> Reason.REJECTED;
        };
    }

    /** Ends in failure, unless it is done: destroys everything before any later event can complete it. */
    void fail(Reason reason, IOException cause) {
        if (done) {
            return;
        }
        if (cause != null) {
            LOG.log(Level.DEBUG, "connect to " + remote + " over RDMA failed", cause);
        }
        destroy();
        failure = reason;
        done = true;
    }

    /** A socket that has to wait for its peer's end does so where a thread always reads events. */
    private void moveToControlThread() throws IOException {
        if (!channel.equals(loop.channel())) {
            ((ConnectionId) id).migrate(loop.channel());
        }
    }

    private void destroy() {
        if (id != null) {
            loop.unbind(id); // first: no late event is handed to us
            try {
                moveToControlThread();
            } catch (IOException e) {
                LOG.log(Level.DEBUG, "rdma_migrate_id failed", e);
            }
        }
        if (endpoint != null) {
            endpoint.close();
        } else if (id != null) {
            StreamParts.destroyQuietly(id);
        }
    }
}
