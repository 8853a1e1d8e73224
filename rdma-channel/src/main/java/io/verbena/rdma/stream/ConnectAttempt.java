package io.verbena.rdma.stream;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import io.verbena.rdma.cm.CmMessage;
import io.verbena.rdma.cm.ControlLoop;
import io.verbena.rdma.cm.Endpoint;
import io.verbena.rdma.protocol.PrivateData;
import io.verbena.rdma.protocol.PrivateDataException;
import io.verbena.rdma.protocol.StreamProtocol;
import io.verbena.rdma.protocol.VersionRange;
import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.EventFd;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * One connect, driven by CM events on the control thread.
 *
 * <pre>
 * start --resolveAddr--> ADDR_RESOLVED --resolveRoute--> ROUTE_RESOLVED --connect--> ESTABLISHED --HELLO--> done
 *    any error event, REJECTED, the time-out, cancel ------------------------------------------------> done (failed)
 * </pre>
 *
 * <p>All fields but the outcome belong to the control thread.
 */
final class ConnectAttempt implements PendingConnect {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.stream");

    private final CountDownLatch done = new CountDownLatch(1);
    private final ControlLoop loop;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final int ringBytesLog2;

    private RdmaCmId id;
    private Endpoint endpoint;
    private ControlLoop.Timer timeout;

    /** Guarded by this; null without a descriptor. */
    private EventFd event;

    private boolean released;
    private boolean cancelled;
    private volatile VerbsStream stream;
    private volatile Reason failure;

    private ConnectAttempt(ControlLoop loop, InetSocketAddress local, InetSocketAddress remote, int ringBytesLog2) {
        this.loop = loop;
        this.local = local;
        this.remote = remote;
        this.ringBytesLog2 = ringBytesLog2;
    }

    static PendingConnect start(
            ControlLoop loop, InetSocketAddress local, InetSocketAddress remote, int ringBytesLog2, boolean withFd)
            throws IOException {
        var attempt = new ConnectAttempt(loop, local, remote, ringBytesLog2);
        if (withFd) {
            attempt.event = new EventFd();
        }
        loop.execute(attempt::begin);
        return attempt;
    }

    static PendingConnect failed(Reason reason, IOException cause) {
        LOG.log(Level.DEBUG, "no connect over RDMA", cause);
        var attempt = new ConnectAttempt(null, null, null, 0);
        attempt.failure = reason;
        attempt.done.countDown();
        return attempt;
    }

    // --- on the control thread -------------------------------------------------------------------------------------

    private void begin() {
        try {
            id = loop.channel().createId(RdmaCm.RDMA_PS_TCP);
            loop.bind(id, this::onEvent);
            int timeoutMs = (int) StreamSettings.CONNECT_TIMEOUT_MS;
            timeout = loop.schedule(timeoutMs * 1_000_000L, () -> fail(Reason.TIMEOUT, null));
            id.resolveAddr(local, remote, timeoutMs);
        } catch (IOException e) {
            fail(Reason.NO_RESOURCES, e);
        }
    }

    private void onEvent(CmMessage message) {
        try {
            handle(message);
        } catch (IOException e) {
            fail(Reason.NO_RESOURCES, e);
        }
    }

    private void handle(CmMessage message) throws IOException {
        if (isDone()) {
            if (message.type() == CmMessage.Type.DISCONNECTED && stream != null) {
                stream.onDisconnected();
            }
            return;
        }
        switch (message.type()) {
            case ADDR_RESOLVED -> id.resolveRoute((int) StreamSettings.CONNECT_TIMEOUT_MS);
            case ROUTE_RESOLVED -> connect();
            case ESTABLISHED -> established(message);
            case REJECTED -> fail(rejected(message), null);
            case DISCONNECTED -> fail(Reason.PEER_DIED, null);
            case OTHER -> {}
            default -> fail(reason(message.status()), null);
        }
    }

    private void connect() throws IOException {
        endpoint = Endpoint.create(id, StreamParts.sizes(ringBytesLog2));
        var offer = new PrivateData.Connect(
                VersionRange.SUPPORTED,
                0,
                0,
                StreamParts.offer(endpoint, ringBytesLog2),
                local.getPort(),
                local.getAddress());
        ByteBuffer data = ByteBuffer.allocate(PrivateData.CONNECT_BYTES);
        PrivateData.encode(offer, data);
        id.connect(StreamParts.connParam(data.flip()));
    }

    private void established(CmMessage message) throws IOException {
        PrivateData.Accept accept;
        try {
            accept = PrivateData.decodeAccept(message.privateData());
        } catch (PrivateDataException e) {
            fail(
                    e.fault() == PrivateDataException.Fault.VERSION ? Reason.VERSION : Reason.REJECTED,
                    new IOException(e));
            return;
        }
        var protocol = StreamProtocol.client(
                StreamSettings.terms(ringBytesLog2), accept.ring().terms(), StreamSettings.sendLimits());
        var peer = new PeerRing(accept.ring().ringAddress(), accept.ring().rkey());
        var made = new VerbsStream(endpoint, protocol, peer, local, remote);
        RdmaCmId bound = id;
        made.onDestroy(() -> loop.unbind(bound));
        made.sendHello();
        finish(made, null);
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

    private void fail(Reason reason, IOException cause) {
        if (isDone()) {
            return;
        }
        if (cause != null) {
            LOG.log(Level.DEBUG, "connect to " + remote + " over RDMA failed", cause);
        }
        destroy();
        finish(null, reason);
    }

    private void destroy() {
        if (id != null) {
            loop.unbind(id);
        }
        if (endpoint != null) {
            endpoint.close();
        } else if (id != null) {
            StreamParts.destroyQuietly(id);
        }
    }

    private void finish(VerbsStream made, Reason reason) {
        if (timeout != null) {
            timeout.cancel();
        }
        boolean unwanted;
        synchronized (this) {
            stream = made;
            failure = reason;
            done.countDown();
            if (event != null) {
                event.signal();
            }
            unwanted = cancelled;
        }
        if (unwanted && made != null) {
            made.close(true);
        }
    }

    // --- any thread ------------------------------------------------------------------------------------------------

    @Override
    public boolean isDone() {
        return done.getCount() == 0;
    }

    @Override
    public boolean await(long timeout, TimeUnit unit) {
        try {
            return done.await(timeout > 0 ? unit.toNanos(timeout) : Long.MAX_VALUE, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return isDone();
        }
    }

    @Override
    public RdmaStream stream() {
        return isDone() && failure == null ? stream : null;
    }

    @Override
    public Reason failure() {
        return isDone() ? failure : null;
    }

    @Override
    public synchronized int fd() {
        return event == null ? -1 : event.fd();
    }

    @Override
    public void cancel() {
        VerbsStream made;
        synchronized (this) {
            if (cancelled || released) {
                return;
            }
            cancelled = true;
            made = stream;
        }
        if (made != null) {
            made.close(true);
        } else if (!isDone()) {
            loop.execute(() -> fail(Reason.CANCELLED, null));
        }
        release();
    }

    @Override
    public synchronized void release() {
        released = true;
        if (event != null) {
            event.close();
            event = null;
        }
    }
}
