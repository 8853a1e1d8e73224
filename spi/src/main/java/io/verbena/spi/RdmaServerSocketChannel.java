package io.verbena.spi;

import io.verbena.rdma.stream.RdmaStream;
import io.verbena.rdma.stream.ReadinessListener;
import io.verbena.rdma.stream.Reason;
import io.verbena.rdma.stream.StreamListener;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A listener: a JDK listener (the <em>twin</em>) owns the real port and accepts plain TCP clients; a stream listener
 * beside it accepts Verbena's. Accepts take turns between the kinds.
 *
 * <p>With a stream listener the twin is always non-blocking and a blocking accept waits in an {@link AcceptWaiter};
 * without, the twin does everything.
 *
 * <p>Locks, outermost first: {@code acceptLock} (accepts; may block under it), {@code stateLock} (the fields below;
 * nothing blocks under it). Close takes {@code stateLock} only.
 */
final class RdmaServerSocketChannel extends ServerSocketChannel implements WatchedChannel {
    private static final int DEFAULT_BACKLOG = 50;

    private final RdmaSelectorProvider owner;
    private final ServerSocketChannel twin;
    private final ReentrantLock acceptLock = new ReentrantLock();
    private final Object stateLock = new Object();
    private final List<RdmaKey> keys = new CopyOnWriteArrayList<>();

    // guarded by stateLock; volatile ones are read without
    private volatile SocketAddress localAddress;
    private volatile StreamListener streams;
    private volatile ListenerTarget target;
    private volatile AcceptWaiter waiter;
    private Integer rcvBuf;
    private ServerSocket adaptor;

    /** Which kind is asked first; guarded by acceptLock. */
    private boolean streamsTurn = true;

    RdmaServerSocketChannel(RdmaSelectorProvider provider, ServerSocketChannel twin) {
        super(provider);
        this.owner = provider;
        this.twin = twin;
    }

    private void ensureOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public ServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
        acceptLock.lock();
        try {
            synchronized (stateLock) {
                ensureOpen();
                twin.bind(local, backlog);
                localAddress = twin.getLocalAddress();
                listenForStreams(backlog < 1 ? DEFAULT_BACKLOG : backlog);
            }
        } finally {
            acceptLock.unlock();
        }
        for (RdmaKey key : keys) {
            key.targetChanged();
        }
        return this;
    }

    /** What can't be had leaves a TCP listener. */
    private void listenForStreams(int backlog) throws IOException {
        assert Thread.holdsLock(stateLock);
        if (owner.config().mode() == Config.Mode.TCP) {
            return;
        }
        StreamListener listener;
        try {
            OptionStore.loadDefaults();
            listener = owner.fabric().listen((InetSocketAddress) localAddress, backlog, OptionStore.ringBytes(rcvBuf));
        } catch (IOException e) {
            VerbenaStats.reason(Reason.NO_RESOURCES);
            return;
        }
        twin.configureBlocking(false);
        streams = listener;
        target = new ListenerTarget(listener);
    }

    // --- accepting

    @Override
    public SocketChannel accept() throws IOException {
        return accept(0);
    }

    /** For {@code ServerSocket}: a blocking accept with a time-out in nanoseconds. */
    SocketChannel blockingAccept(long timeoutNs) throws IOException {
        if (!isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        return accept(timeoutNs);
    }

    private SocketChannel accept(long timeoutNs) throws IOException {
        if (streams == null) {
            return acceptTcp(timeoutNs);
        }
        acceptLock.lock();
        try {
            ensureOpen();
            boolean blocking = isBlocking();
            if (!blocking || !Thread.currentThread().isInterrupted()) {
                SocketChannel accepted = tryAccept();
                if (accepted != null || !blocking) {
                    return accepted;
                }
            }
            return acceptBlocking(timeoutNs);
        } finally {
            acceptLock.unlock();
        }
    }

    /** There is TCP only: the twin has our blocking mode and waits itself. */
    private SocketChannel acceptTcp(long timeoutNs) throws IOException {
        ensureOpen();
        if (localAddress == null) {
            throw new NotYetBoundException();
        }
        try {
            SocketChannel accepted;
            if (timeoutNs > 0) {
                ServerSocket socket = twin.socket();
                socket.setSoTimeout((int) Math.min(Math.ceilDiv(timeoutNs, 1_000_000), Integer.MAX_VALUE));
                accepted = socket.accept().getChannel();
            } else {
                accepted = twin.accept();
            }
            return accepted == null ? null : RdmaSocketChannel.acceptedTcp(owner, accepted);
        } catch (ClosedChannelException e) {
            if (!twin.isOpen()) {
                close();
            }
            throw e;
        }
    }

    private SocketChannel acceptBlocking(long timeoutNs) throws IOException {
        long start = System.nanoTime();
        SocketChannel accepted = null;
        try {
            begin();
            AcceptWaiter wait = waiter();
            while (true) {
                accepted = tryAccept();
                if (accepted != null || !isOpen()) {
                    break;
                }
                wait.await(timeoutNs > 0 ? leftMs(start, timeoutNs) : -1);
                // the JDK's selector took our place in the thread; an interrupt meanwhile is noticed here
                begin();
            }
        } catch (ClosedChannelException e) {
            throw e instanceof AsynchronousCloseException async ? async : new AsynchronousCloseException();
        } finally {
            end(accepted != null);
        }
        return accepted;
    }

    private static long leftMs(long start, long timeoutNs) throws SocketTimeoutException {
        long leftNs = timeoutNs - (System.nanoTime() - start);
        if (leftNs <= 0) {
            throw new SocketTimeoutException("Accept timed out");
        }
        return Math.ceilDiv(leftNs, 1_000_000);
    }

    private AcceptWaiter waiter() throws IOException {
        synchronized (stateLock) {
            if (!isOpen()) {
                throw new AsynchronousCloseException();
            }
            if (waiter == null) {
                waiter = new AcceptWaiter(twin, streams.fd());
            }
            return waiter;
        }
    }

    private SocketChannel tryAccept() throws IOException {
        assert acceptLock.isHeldByCurrentThread();
        boolean streamFirst = streamsTurn;
        SocketChannel accepted = streamFirst ? tryStream() : tryTcp();
        if (accepted == null) {
            accepted = streamFirst ? tryTcp() : tryStream();
        }
        return accepted;
    }

    private SocketChannel tryStream() {
        RdmaStream stream = streams.accept();
        if (stream == null) {
            return null;
        }
        streamsTurn = false;
        return RdmaSocketChannel.acceptedStream(owner, stream);
    }

    private SocketChannel tryTcp() throws IOException {
        SocketChannel accepted = twin.accept();
        if (accepted == null) {
            return null;
        }
        streamsTurn = true;
        return RdmaSocketChannel.acceptedTcp(owner, accepted);
    }

    // --- addresses and options

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        ensureOpen();
        return localAddress;
    }

    /** The local address, also after close; null if never bound. */
    InetSocketAddress localAddress() {
        return (InetSocketAddress) localAddress;
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        Objects.requireNonNull(name);
        synchronized (stateLock) {
            twin.setOption(name, value);
            if (name.equals(StandardSocketOptions.SO_RCVBUF)) {
                rcvBuf = (Integer) value;
            }
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return twin.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return twin.supportedOptions();
    }

    @Override
    public ServerSocket socket() {
        synchronized (stateLock) {
            if (adaptor == null) {
                adaptor = ServerSocketAdaptor.create(this);
            }
            return adaptor;
        }
    }

    // --- SelectableChannel

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        if (streams == null) {
            // waits for an accept under way, as the JDK does
            twin.configureBlocking(block);
        }
        acceptLock.lock();
        try {
            ensureOpen();
            if (streams != null && twin.isBlocking()) {
                twin.configureBlocking(false);
            }
        } finally {
            acceptLock.unlock();
        }
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        AcceptWaiter wait;
        synchronized (stateLock) {
            if (streams != null) {
                streams.close();
            }
            wait = waiter;
            waiter = null;
        }
        twin.close();
        if (wait != null) {
            wait.close();
        }
    }

    @Override
    public SelectableChannel innerTarget() {
        return localAddress == null ? null : twin;
    }

    @Override
    public PollTarget pollTarget() {
        return target;
    }

    @Override
    public void keyAdded(RdmaKey key) {
        keys.add(key);
    }

    @Override
    public void keyRemoved(RdmaKey key) {
        keys.remove(key);
    }

    @Override
    public String toString() {
        String what = !isOpen() ? "closed" : localAddress == null ? "unbound" : localAddress.toString();
        return ServerSocketChannel.class.getName() + '[' + what + ']';
    }

    /** The stream listener as a selector sees it. */
    private record ListenerTarget(StreamListener listener) implements PollTarget {
        @Override
        public int ops() {
            return SelectionKey.OP_ACCEPT;
        }

        @Override
        public int fd() {
            return listener.fd();
        }

        @Override
        public boolean levelTriggered() {
            return true;
        }

        @Override
        public int poll() {
            return listener.acceptable() ? SelectionKey.OP_ACCEPT : 0;
        }

        @Override
        public int arm() {
            return poll();
        }

        @Override
        public void consumeEvent() {
            // the descriptor stays readable while there is a connection
        }

        @Override
        public void addListener(ReadinessListener readiness) {
            // the descriptor tells
        }

        @Override
        public void removeListener(ReadinessListener readiness) {
            // nothing was added
        }
    }
}
