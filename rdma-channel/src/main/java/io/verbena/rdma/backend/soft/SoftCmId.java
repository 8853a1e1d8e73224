package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.Linux;
import io.verbena.rdma.verbs.ConnectionId;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An id of the connection manager (rdma_cm(7)).
 *
 * <pre>
 *   IDLE --bind--> IDLE --listen--> LISTENING
 *   IDLE --resolveAddr--> RESOLVED --connect--> CONNECTING --ACCEPT--> ESTABLISHED --peer's end--> DISCONNECTED
 *                                                   '---REJECT, peer's end---> REJECTED
 *   (request) REQUESTED --accept--> ACCEPTED --READY--> ESTABLISHED
 *                 |                     '---peer's end---> REJECTED
 *                 '---reject---> REJECTED
 *   any --destroy--> DESTROYED
 * </pre>
 *
 * <p>Thread-safe; state is guarded by this object's lock, which is taken before a connection's and never held while
 * blocking.
 */
final class SoftCmId extends RdmaCmId implements ConnectionId, SoftEventChannel.Source {
    private enum State {
        IDLE,
        LISTENING,
        RESOLVED,
        CONNECTING,
        REQUESTED,
        ACCEPTED,
        ESTABLISHED,
        DISCONNECTED,
        REJECTED,
        DESTROYED
    }

    private static final Map<State, Set<State>> TRANSITIONS = new EnumMap<>(Map.of(
            State.IDLE, EnumSet.of(State.LISTENING, State.RESOLVED, State.REQUESTED, State.DESTROYED),
            State.LISTENING, EnumSet.of(State.DESTROYED),
            State.RESOLVED, EnumSet.of(State.CONNECTING, State.DESTROYED),
            State.CONNECTING, EnumSet.of(State.ESTABLISHED, State.REJECTED, State.DESTROYED),
            State.REQUESTED, EnumSet.of(State.ACCEPTED, State.REJECTED, State.DESTROYED),
            State.ACCEPTED, EnumSet.of(State.ESTABLISHED, State.REJECTED, State.DESTROYED),
            State.ESTABLISHED, EnumSet.of(State.DISCONNECTED, State.DESTROYED),
            State.DISCONNECTED, EnumSet.of(State.DESTROYED),
            State.REJECTED, EnumSet.of(State.DESTROYED),
            State.DESTROYED, EnumSet.noneOf(State.class)));

    private State state = State.IDLE;
    private SoftEventChannel channel;
    private InetSocketAddress source;
    private InetSocketAddress destination;
    /** The listening id's own, or the one that a request came to. */
    private SoftListener listener;

    private Connection connection;
    private SoftQp qp;
    /** REQUESTED: what the client sent, until accept or reject. */
    private Handshake request;

    private int[] requestFds = {};
    private int rnrRetries = 7;

    SoftCmId(SoftEventChannel channel, short portSpace) throws IOException {
        super(channel, SoftBackend.context());
        this.channel = channel;
        this.cmChannel = channel;
        this.verbs = SoftBackend.context();
        this.ps = portSpace;
        this.port_num = 1;
        this.isOpen = true;
    }

    private void setState(State next) {
        assert Thread.holdsLock(this);
        if (!TRANSITIONS.get(state).contains(next)) {
            throw new IllegalStateException("id " + source + " -> " + destination + ": " + state + " -> " + next);
        }
        state = next;
    }

    private void require(State wanted, String call) throws IOException {
        assert Thread.holdsLock(this);
        if (state != wanted) {
            throw new IOException(call + " failed: EINVAL (the id is " + state + ", not " + wanted + ")");
        }
    }

    private void post(EventType type, int status, byte[] privateData) throws IOException {
        channel.post(new SoftCmEvent(type, this, null, status, privateData));
    }

    /** The connection, which exists from resolveAddr or the request on. */
    synchronized Connection connection() throws IOException {
        if (connection == null) {
            throw new IOException("the id is not resolved yet (" + state + ")");
        }
        return connection;
    }

    // --- listening -------------------------------------------------------------------------------------------------

    @Override
    public synchronized void bindAddr(SocketAddress address) throws IOException {
        require(State.IDLE, "rdma_bind_addr");
        source = (InetSocketAddress) address;
    }

    /**
     * Listens beside the TCP listener that this process has at the bound address.
     *
     * @param backlog connections that the kernel queues
     */
    @Override
    public synchronized void listen(int backlog) throws IOException {
        require(State.IDLE, "rdma_listen");
        if (source == null) {
            throw new IOException("rdma_listen failed: EINVAL (bind the id to the TCP listener's address first)");
        }
        listener = SoftListener.open(this, channel, source, Math.max(1, backlog));
        setState(State.LISTENING);
    }

    /** A request came to this listening id; takes over the socket and the message's descriptors. */
    void request(int socket, UnixSocket.Received received) throws IOException {
        assert Thread.holdsLock(this);
        boolean taken = false;
        try {
            Handshake message = Handshake.decode(received.data());
            int status = check(message);
            if (status != 0) {
                refuse(socket, status);
                return;
            }
            SoftCmId id = new SoftCmId(channel, (short) ps);
            Pair pair = Pair.withClient(UnixSocket.credentials(socket), message.idHigh(), message.idLow());
            taken = true;
            id.requested(listener, new Connection(socket, pair), message, received.fds(), serverAddress(message));
            listener.requestCame();
            channel.post(new SoftCmEvent(EventType.RDMA_CM_EVENT_CONNECT_REQUEST, id, this, 0, message.privateData()));
        } catch (IOException e) {
            if (!taken) {
                refuse(socket, e instanceof CmException c ? c.status : -Errno.EPROTO);
            }
        } finally {
            if (!taken) {
                UnixSocket.closeAll(received.fds());
                int unused = Linux.close(socket);
            }
        }
    }

    private static int check(Handshake message) {
        if (message.type() != HandshakeDescriptor.REQUEST
                || message.source() == null
                || message.destination() == null
                || message.privateData().length > HandshakeDescriptor.MAX_CONNECT_DATA) {
            return -Errno.EPROTO;
        }
        InetAddress client = message.source().getAddress();
        return client.isAnyLocalAddress() || NetAddress.checkLocal(client) == 0 ? 0 : -Errno.EADDRNOTAVAIL;
    }

    /** The address that the client connected to, if the listener's address covers it. */
    private InetSocketAddress serverAddress(Handshake message) {
        InetSocketAddress claimed = message.destination();
        return source.getAddress().isAnyLocalAddress()
                        && claimed.getPort() == source.getPort()
                        && !claimed.getAddress().isAnyLocalAddress()
                        && NetAddress.checkLocal(claimed.getAddress()) == 0
                ? claimed
                : source;
    }

    static void refuse(int socket, int status) {
        long unused =
                UnixSocket.send(socket, Handshake.reject(status, new byte[0]).encode(), new int[0]);
    }

    private synchronized void requested(
            SoftListener from, Connection incoming, Handshake message, int[] fds, InetSocketAddress serverAddress) {
        listener = from;
        connection = incoming;
        request = message;
        requestFds = fds;
        source = serverAddress;
        destination = message.source();
        setState(State.REQUESTED);
    }

    // --- connecting ------------------------------------------------------------------------------------------------

    /**
     * Finds the listener and connects to its process: ADDR_RESOLVED, or ADDR_ERROR with a status that
     * {@link SoftCmEvent} explains. The event is queued when the call returns.
     *
     * @param from the client's address, or null
     * @param timeoutMs unused: nothing here waits for the peer
     */
    @Override
    public synchronized void resolveAddr(SocketAddress from, SocketAddress to, int timeoutMs) throws IOException {
        require(State.IDLE, "rdma_resolve_addr");
        destination = (InetSocketAddress) to;
        if (from != null) {
            source = (InetSocketAddress) from;
        }
        if (source == null) {
            source = new InetSocketAddress(destination.getAddress(), 0);
        }
        int status = Meeting.check(destination);
        if (status == 0) {
            Meeting meeting = Meeting.with(source, destination);
            status = meeting.status();
            if (status == 0) {
                connection = new Connection(meeting.fd(), Pair.withListener(meeting.peer()));
                if (source.getAddress().isAnyLocalAddress()) {
                    source = new InetSocketAddress(destination.getAddress(), source.getPort());
                }
                setState(State.RESOLVED);
            }
        }
        post(status == 0 ? EventType.RDMA_CM_EVENT_ADDR_RESOLVED : EventType.RDMA_CM_EVENT_ADDR_ERROR, status, null);
    }

    @Override
    public synchronized void resolveRoute(int timeoutMs) throws IOException {
        require(State.RESOLVED, "rdma_resolve_route");
        post(EventType.RDMA_CM_EVENT_ROUTE_RESOLVED, 0, null);
    }

    @Override
    public synchronized IbvQP createQP(IbvPd pd, IbvQPInitAttr attr) throws IOException {
        if (qp != null || (state != State.RESOLVED && state != State.REQUESTED)) {
            throw new IOException("rdma_create_qp failed: EINVAL (the id is " + state + ")");
        }
        qp = SoftQp.create(connection, (SoftPd) pd, attr);
        qpObj = qp;
        return qp;
    }

    @Override
    public synchronized void connect(RdmaConnParam param) throws IOException {
        require(State.RESOLVED, "rdma_connect");
        byte[] privateData = privateData(param, HandshakeDescriptor.MAX_CONNECT_DATA, "rdma_connect");
        requireQp("rdma_connect");
        rnrRetries = param == null ? 7 : param.getRnr_retry_count();
        sendMemory(HandshakeDescriptor.REQUEST, privateData);
        setState(State.CONNECTING);
    }

    /** Sends our half of the set-up and watches for the peer's. */
    private void sendMemory(int type, byte[] privateData) throws IOException {
        channel.register(connection.fd(), Linux.EPOLLIN | Linux.EPOLLRDHUP, this);
        Handshake message = new Handshake(
                type, 0, 0, source, destination, qp.number(), qp.ringEntries(), 0, 0, List.of(), 0, privateData);
        try {
            connection.sendHandshake(message, qp.block());
        } catch (IOException e) {
            channel.unregister(connection.fd(), this);
            throw e;
        }
    }

    private void requireQp(String call) throws IOException {
        if (qp == null) {
            throw new IOException(call + " failed: EINVAL (create the queue pair first)");
        }
    }

    private static byte[] privateData(RdmaConnParam param, int max, String call) throws IOException {
        int length = param == null ? 0 : param.getPrivate_data_len() & 0xFF;
        if (length > max) {
            throw new IOException(call + " failed: EINVAL (private data of " + length + " bytes, " + max + " fit)");
        }
        return length == 0
                ? new byte[0]
                : MemorySegment.ofAddress(param.getPrivate_data())
                        .reinterpret(length)
                        .toArray(ValueLayout.JAVA_BYTE);
    }

    // --- answering -------------------------------------------------------------------------------------------------

    /**
     * Accepts a request; ESTABLISHED follows when the client has read its own.
     *
     * @throws IOException also if the client is gone
     */
    @Override
    public synchronized void accept(RdmaConnParam param) throws IOException {
        require(State.REQUESTED, "rdma_accept");
        byte[] privateData = privateData(param, HandshakeDescriptor.MAX_ACCEPT_DATA, "rdma_accept");
        requireQp("rdma_accept");
        rnrRetries = param == null ? 7 : param.getRnr_retry_count();
        PeerMemory peer;
        try {
            peer = connection.attach(request, requestFds);
        } finally {
            UnixSocket.closeAll(requestFds);
            requestFds = new int[0];
        }
        qp.start(peer, rnrRetries);
        connection.onReady(this::readyConsumed);
        sendMemory(HandshakeDescriptor.ACCEPT, privateData);
        setState(State.ACCEPTED);
        listener.requestAnswered();
    }

    @Override
    public synchronized void reject(ByteBuffer privateData) throws IOException {
        require(State.REQUESTED, "rdma_reject");
        byte[] bytes = new byte[privateData.remaining()];
        if (bytes.length > HandshakeDescriptor.MAX_REJECT_DATA) {
            throw new IOException("rdma_reject failed: EINVAL (private data of " + bytes.length + " bytes, "
                    + HandshakeDescriptor.MAX_REJECT_DATA + " fit)");
        }
        ByteBuffer unused = privateData.duplicate().get(bytes);
        setState(State.REJECTED);
        connection.reject(
                Handshake.reject(SoftCmEvent.REJECTED_BY_PROGRAM, bytes).encode());
        listener.requestAnswered();
    }

    // --- events of the socket --------------------------------------------------------------------------------------

    @Override
    public synchronized void ready(int events) {
        try {
            switch (state) {
                case CONNECTING -> answered();
                case ACCEPTED -> readyMayHaveCome();
                case ESTABLISHED -> disconnectedIfPeerEnded();
                default -> channel.unregister(connection.fd(), this);
            }
        } catch (IOException e) {
            fail(e instanceof CmException c ? c.status : -Errno.EPROTO);
        }
    }

    private void answered() throws IOException {
        UnixSocket.Received received = connection.receiveHandshake();
        if (received == null) {
            return;
        }
        if (received.isEnd()) {
            UnixSocket.closeAll(received.fds());
            ended(EventType.RDMA_CM_EVENT_REJECTED, State.REJECTED, -Errno.ECONNRESET);
            return;
        }
        try {
            Handshake answer = Handshake.decode(received.data());
            switch (answer.type()) {
                case HandshakeDescriptor.ACCEPT -> accepted(answer, received.fds());
                case HandshakeDescriptor.REJECT -> rejected(answer.status(), answer.privateData());
                default -> throw new IOException("the peer answers with message " + answer.type());
            }
        } finally {
            UnixSocket.closeAll(received.fds());
        }
    }

    private void accepted(Handshake answer, int[] fds) throws IOException {
        qp.start(connection.attach(answer, fds), rnrRetries);
        channel.setMask(connection.fd(), Linux.EPOLLRDHUP);
        connection.sendReady();
        setState(State.ESTABLISHED);
        post(EventType.RDMA_CM_EVENT_ESTABLISHED, 0, answer.privateData());
    }

    private void rejected(int status, byte[] privateData) throws IOException {
        setState(State.REJECTED);
        stop();
        post(EventType.RDMA_CM_EVENT_REJECTED, status, privateData);
    }

    private synchronized void readyConsumed() {
        if (state == State.ACCEPTED) {
            ready(0);
        }
    }

    private void readyMayHaveCome() throws IOException {
        if (connection.receiveReady()) {
            channel.setMask(connection.fd(), Linux.EPOLLRDHUP);
            setState(State.ESTABLISHED);
            post(EventType.RDMA_CM_EVENT_ESTABLISHED, 0, null);
        } else if (connection.isPeerEnded()) {
            ended(EventType.RDMA_CM_EVENT_REJECTED, State.REJECTED, -Errno.ECONNRESET);
        }
    }

    private void disconnectedIfPeerEnded() throws IOException {
        // The event may be an old one, of another socket that had the same number.
        if (connection.isPeerEnded()) {
            ended(EventType.RDMA_CM_EVENT_DISCONNECTED, State.DISCONNECTED, 0);
        }
    }

    private void ended(EventType type, State next, int status) throws IOException {
        setState(next);
        stop();
        post(type, status, null);
    }

    /** The peer is at its end, or not to be trusted: we write no more either. */
    private void stop() {
        channel.unregister(connection.fd(), this);
        if (qp != null) {
            qp.fail();
        }
        connection.shutdown();
        if (connection.isPeerEnded()) {
            connection.peerEnded();
        }
    }

    private void fail(int status) {
        try {
            ended(EventType.RDMA_CM_EVENT_REJECTED, State.REJECTED, status);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    // --- the end ---------------------------------------------------------------------------------------------------

    /** Disconnects: the queue pair goes to the error state at once; DISCONNECTED comes when the peer has answered. */
    @Override
    public synchronized int disconnect() {
        if (qp != null) {
            qp.fail();
        }
        if (connection != null) {
            connection.shutdown();
        }
        return 0;
    }

    @Override
    public synchronized int destroyQP() {
        if (qp != null) {
            qp.destroy();
            qp = null;
            qpObj = null;
        }
        return 0;
    }

    /** Destroys the id, and its queue pair if there is one; drops its events. Idempotent. */
    @Override
    public synchronized int destroyId() {
        if (state == State.DESTROYED) {
            return 0;
        }
        State old = state;
        setState(State.DESTROYED);
        isOpen = false;
        int unused = destroyQP();
        channel.dropEvents(this);
        UnixSocket.closeAll(requestFds);
        requestFds = new int[0];
        if (old == State.LISTENING) {
            listener.close();
        } else if (old == State.REQUESTED) {
            listener.requestAnswered();
        }
        if (connection != null) {
            channel.unregister(connection.fd(), this);
            connection.shutdown();
            if (connection.destroyed()) {
                connection.close();
            } else {
                Lingering.begin(connection, channel);
            }
        }
        return 0;
    }

    @Override
    public int destroyEp() {
        int unused = disconnect();
        return destroyId();
    }

    // --- properties ------------------------------------------------------------------------------------------------

    @Override
    public synchronized SocketAddress getSource() {
        return source;
    }

    @Override
    public synchronized SocketAddress getDestination() {
        return destination;
    }

    @Override
    public synchronized void migrate(RdmaEventChannel target) throws IOException {
        SoftEventChannel next = (SoftEventChannel) target;
        if (next == channel || state == State.LISTENING) {
            throw new IOException("rdma_migrate_id failed: EINVAL (a listening id, or the same channel)");
        }
        SoftEventChannel old = channel;
        channel = next;
        cmChannel = next;
        old.moveEvents(this, next);
        if (connection != null
                && (state == State.CONNECTING || state == State.ACCEPTED || state == State.ESTABLISHED)) {
            old.unregister(connection.fd(), this);
            int mask = state == State.ESTABLISHED ? Linux.EPOLLRDHUP : Linux.EPOLLIN | Linux.EPOLLRDHUP;
            next.register(connection.fd(), mask, this);
        }
    }

    @Override
    public void setOption(int level, int name, int value) {
        throw new UnsupportedOperationException("the soft device has no option " + level + "/" + name);
    }

    @Override
    public long readPeerLong(long remoteAddr, int rkey) {
        PeerMemory peer;
        synchronized (this) {
            peer = connection == null ? null : connection.peer();
        }
        if (peer == null) {
            throw new IndexOutOfBoundsException("the id is not connected");
        }
        return peer.readLong(remoteAddr, rkey);
    }

    @Override
    public boolean canReadPeer() {
        return true;
    }
}
