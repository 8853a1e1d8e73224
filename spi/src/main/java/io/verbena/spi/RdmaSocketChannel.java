package io.verbena.spi;

import io.verbena.rdma.stream.RdmaStream;
import io.verbena.rdma.stream.Reason;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A socket channel that a stream carries, or a channel of the JDK (the <em>twin</em>).
 *
 * <p>Before connect the twin holds the options and the local port. A stream channel keeps it as the owner of the local
 * port; a TCP channel forwards everything to it, and the twin does its own {@code begin} and {@code end} (a thread has
 * but one slot for the interrupt hook). A twin that was closed, by an interrupt for example, closes this channel.
 *
 * <p>Locks, outermost first: {@code readLock} (reads of a stream, connects), {@code writeLock} (writes of a stream,
 * connects), {@code stateLock} (the fields below; nothing blocks under it). Close takes {@code stateLock} only.
 */
final class RdmaSocketChannel extends SocketChannel implements WatchedChannel {
    /** Grows only, but that a connect refused by an unchecked exception leaves it unconnected. */
    private enum State {
        UNCONNECTED,
        PENDING,
        CONNECTED,
        CLOSED
    }

    final ReentrantLock readLock = new ReentrantLock();
    final ReentrantLock writeLock = new ReentrantLock();
    final Object stateLock = new Object();

    private final RdmaSelectorProvider owner;
    private final ProtocolFamily family;
    private final List<RdmaKey> keys = new CopyOnWriteArrayList<>();

    // guarded by stateLock; volatile ones are read without
    private final OptionStore options = new OptionStore();
    private volatile State state = State.UNCONNECTED;
    /** The JDK's channel; null for an accepted stream. */
    private volatile SocketChannel twin;
    /** The stream's reads and writes; null unless a stream carries this channel. */
    private volatile StreamIo stream;

    private volatile SocketAddress localAddress;
    private volatile SocketAddress remoteAddress;
    private Connector connector;
    private boolean twinBlocking = true;
    private boolean portIsTwins;
    private boolean inputShut;
    private boolean outputShut;
    private Socket adaptor;

    /** A new, unconnected channel over {@code twin}. */
    RdmaSocketChannel(RdmaSelectorProvider provider, ProtocolFamily family, SocketChannel twin) {
        super(provider);
        this.owner = provider;
        this.family = family;
        this.twin = twin;
    }

    /** A channel that a listener accepted by TCP. */
    static RdmaSocketChannel acceptedTcp(RdmaSelectorProvider provider, SocketChannel twin) throws IOException {
        RdmaSocketChannel channel = new RdmaSocketChannel(provider, null, twin);
        channel.localAddress = twin.getLocalAddress();
        channel.remoteAddress = twin.getRemoteAddress();
        channel.state = State.CONNECTED;
        VerbenaStats.tcpOpened(true);
        return channel;
    }

    /** A channel that a listener accepted as a stream. */
    static RdmaSocketChannel acceptedStream(RdmaSelectorProvider provider, RdmaStream stream) {
        RdmaSocketChannel channel = new RdmaSocketChannel(provider, null, null);
        channel.localAddress = stream.localAddress();
        channel.remoteAddress = stream.remoteAddress();
        channel.stream = new StreamIo(channel, stream, VerbenaStats.streamOpened(stream, true));
        channel.state = State.CONNECTED;
        return channel;
    }

    // --- for the package's helpers

    RdmaSelectorProvider owner() {
        return owner;
    }

    void beginBlocking() {
        begin();
    }

    void endBlocking(boolean completed) throws AsynchronousCloseException {
        end(completed);
    }

    void ensureOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** For an operation that began while the channel was open. */
    void ensureOpenAsync() throws AsynchronousCloseException {
        if (!isOpen() || state == State.CLOSED) {
            throw new AsynchronousCloseException();
        }
    }

    int ringBytes() {
        assert Thread.holdsLock(stateLock);
        return options.ringBytes();
    }

    SocketChannel twin() {
        return twin;
    }

    StreamIo stream() {
        return stream;
    }

    /**
     * Gives the twin the local port of a stream to {@code remote}.
     *
     * @return the local address that TCP would show; null if no port can be had
     */
    InetSocketAddress bindTwin(InetSocketAddress remote) {
        assert Thread.holdsLock(stateLock);
        try {
            if (localAddress == null) {
                twin.bind(new InetSocketAddress(remote.getAddress(), 0));
                portIsTwins = true;
            }
            return Addresses.localFor((InetSocketAddress) twin.getLocalAddress(), remote);
        } catch (IOException e) {
            return null;
        }
    }

    /** The twin for a TCP connect: one without a port that only the stream wanted. */
    SocketChannel freeTwin() throws IOException {
        assert Thread.holdsLock(stateLock);
        ensureOpenAsync();
        if (portIsTwins) {
            SocketChannel fresh = RdmaSelectorProvider.openJdkSocketChannel(family);
            options.copyTo(fresh);
            fresh.configureBlocking(twinBlocking);
            twin.close();
            twin = fresh;
            portIsTwins = false;
        }
        return twin;
    }

    void streamConnected(RdmaStream connected) {
        assert Thread.holdsLock(stateLock) && state == State.PENDING;
        localAddress = connected.localAddress();
        stream = new StreamIo(this, connected, VerbenaStats.streamOpened(connected, false));
        state = State.CONNECTED;
        connector = null;
        targetChanged();
    }

    /** The twin is connected; true. */
    boolean tcpConnected(Reason reason) throws IOException {
        assert Thread.holdsLock(stateLock) && state == State.PENDING;
        localAddress = twin.getLocalAddress();
        state = State.CONNECTED;
        connector = null;
        VerbenaStats.tcpOpened(false);
        VerbenaStats.reason(reason);
        targetChanged();
        return true;
    }

    /** Tells the selectors that what they watch is another thing now. */
    void targetChanged() {
        for (RdmaKey key : keys) {
            key.targetChanged();
        }
    }

    // --- connecting

    @Override
    public SocketChannel bind(SocketAddress local) throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            synchronized (stateLock) {
                ensureOpen();
                if (state == State.PENDING) {
                    throw new ConnectionPendingException();
                }
                if (localAddress != null) {
                    throw new AlreadyBoundException();
                }
                twin.bind(local);
                localAddress = twin.getLocalAddress();
            }
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
        return this;
    }

    @Override
    public boolean connect(SocketAddress remote) throws IOException {
        return connect(remote, 0);
    }

    /** As {@link #connect(SocketAddress)} with a time-out in nanoseconds, 0 for none, that only blocking mode heeds. */
    boolean connect(SocketAddress remote, long timeoutNs) throws IOException {
        InetSocketAddress address = Addresses.checkRemote(remote, family);
        try {
            readLock.lock();
            writeLock.lock();
            try {
                return lockedConnect(address, timeoutNs);
            } finally {
                writeLock.unlock();
                readLock.unlock();
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private boolean lockedConnect(InetSocketAddress address, long timeoutNs) throws IOException {
        Connector connect = beginConnect(address);
        try {
            if (!isBlocking()) {
                boolean connected = connect.start();
                targetChanged();
                return connected;
            }
            connect.connect(timeoutNs);
            return true;
        } catch (RuntimeException e) {
            refuse(connect);
            throw e;
        }
    }

    private Connector beginConnect(InetSocketAddress address) throws ClosedChannelException {
        synchronized (stateLock) {
            ensureOpen();
            if (state == State.CONNECTED) {
                throw new AlreadyConnectedException();
            }
            if (state == State.PENDING) {
                throw new ConnectionPendingException();
            }
            state = State.PENDING;
            remoteAddress = address;
            connector = new Connector(this, address);
            return connector;
        }
    }

    /** The JDK refused the arguments (its address family, say): as if connect had not been called. */
    private void refuse(Connector connect) {
        synchronized (stateLock) {
            if (state == State.PENDING) {
                connect.cancel();
                connector = null;
                remoteAddress = null;
                state = State.UNCONNECTED;
            }
        }
    }

    @Override
    public boolean finishConnect() throws IOException {
        try {
            readLock.lock();
            writeLock.lock();
            try {
                if (isConnected()) {
                    return true;
                }
                ensureOpen();
                Connector connect;
                synchronized (stateLock) {
                    connect = connector;
                }
                if (connect == null) {
                    throw new NoConnectionPendingException();
                }
                return connect.finish(isBlocking());
            } finally {
                writeLock.unlock();
                readLock.unlock();
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    @Override
    public boolean isConnected() {
        return state == State.CONNECTED;
    }

    @Override
    public boolean isConnectionPending() {
        return state == State.PENDING;
    }

    // --- reading and writing

    @Override
    public int read(ByteBuffer dst) throws IOException {
        Objects.requireNonNull(dst);
        StreamIo io = stream;
        if (io != null) {
            return io.read(dst);
        }
        try {
            int n = twin.read(dst);
            VerbenaStats.tcpRead(n);
            return n;
        } catch (ClosedChannelException e) {
            throw twinClosed(e);
        }
    }

    @Override
    public long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
        StreamIo io = stream;
        if (io != null) {
            return io.read(dsts, offset, length);
        }
        try {
            long n = twin.read(dsts, offset, length);
            VerbenaStats.tcpRead(n);
            return n;
        } catch (ClosedChannelException e) {
            throw twinClosed(e);
        }
    }

    @Override
    public int write(ByteBuffer src) throws IOException {
        Objects.requireNonNull(src);
        StreamIo io = stream;
        if (io != null) {
            return io.write(src);
        }
        try {
            int n = twin.write(src);
            VerbenaStats.tcpWrote(n);
            return n;
        } catch (ClosedChannelException e) {
            throw twinClosed(e);
        }
    }

    @Override
    public long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
        StreamIo io = stream;
        if (io != null) {
            return io.write(srcs, offset, length);
        }
        try {
            long n = twin.write(srcs, offset, length);
            VerbenaStats.tcpWrote(n);
            return n;
        } catch (ClosedChannelException e) {
            throw twinClosed(e);
        }
    }

    /** Closes this channel if the twin was closed, by an interrupt. */
    ClosedChannelException twinClosed(ClosedChannelException e) throws IOException {
        if (!twin.isOpen()) {
            close();
        }
        return e;
    }

    @Override
    public SocketChannel shutdownInput() throws IOException {
        synchronized (stateLock) {
            ensureConnected();
            if (stream != null) {
                stream.shutdownInput();
            } else {
                twin.shutdownInput();
            }
            inputShut = true;
        }
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        synchronized (stateLock) {
            ensureConnected();
            if (stream != null) {
                stream.shutdownOutput();
            } else {
                twin.shutdownOutput();
            }
            outputShut = true;
        }
        return this;
    }

    private void ensureConnected() throws ClosedChannelException {
        ensureOpen();
        if (state != State.CONNECTED) {
            throw new NotYetConnectedException();
        }
    }

    boolean isInputOpen() {
        synchronized (stateLock) {
            return !inputShut;
        }
    }

    boolean isOutputOpen() {
        synchronized (stateLock) {
            return !outputShut;
        }
    }

    // --- addresses and options

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        ensureOpen();
        return localAddress;
    }

    @Override
    public SocketAddress getRemoteAddress() throws IOException {
        ensureOpen();
        return remoteAddress;
    }

    /** The local address, also after close; null if never bound. */
    InetSocketAddress localAddress() {
        return (InetSocketAddress) localAddress;
    }

    /** The remote address, also after close; null if never connected. */
    InetSocketAddress remoteAddress() {
        return (InetSocketAddress) remoteAddress;
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        Objects.requireNonNull(name);
        if (!supportedOptions().contains(name)) {
            throw new UnsupportedOperationException("'" + name + "' not supported");
        }
        if (!name.type().isInstance(value)) {
            throw new IllegalArgumentException("Invalid value '" + value + "'");
        }
        synchronized (stateLock) {
            ensureOpen();
            if (twin != null) {
                twin.setOption(name, value);
                options.record(name, value);
            } else {
                options.recordChecked(name, value);
            }
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        Objects.requireNonNull(name);
        if (!supportedOptions().contains(name)) {
            throw new UnsupportedOperationException("'" + name + "' not supported");
        }
        synchronized (stateLock) {
            ensureOpen();
            return twin != null ? twin.getOption(name) : name.type().cast(options.get(name));
        }
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        SocketChannel jdk = twin;
        return jdk != null ? jdk.supportedOptions() : OptionStore.supported();
    }

    @Override
    public Socket socket() {
        synchronized (stateLock) {
            if (adaptor == null) {
                adaptor = SocketAdaptor.create(this);
            }
            return adaptor;
        }
    }

    // --- SelectableChannel

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            SocketChannel connected;
            synchronized (stateLock) {
                ensureOpen();
                if (stream != null) {
                    return;
                }
                twinBlocking = block;
                if (state != State.CONNECTED) {
                    twin.configureBlocking(block);
                    return;
                }
                connected = twin;
            }
            // waits for a read under way, as the JDK does; so not under stateLock
            connected.configureBlocking(block);
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        SocketChannel tcp;
        synchronized (stateLock) {
            state = State.CLOSED;
            if (connector != null) {
                connector.cancel();
            }
            if (stream != null) {
                stream.close(options.lingersZero());
            }
            tcp = twin;
        }
        if (tcp != null) {
            tcp.close();
        }
    }

    @Override
    public SelectableChannel innerTarget() {
        synchronized (stateLock) {
            boolean tcp =
                    stream == null && (state == State.CONNECTED || state == State.PENDING && connector.isTcpUnderWay());
            return tcp ? twin : null;
        }
    }

    @Override
    public PollTarget pollTarget() {
        synchronized (stateLock) {
            if (stream != null) {
                return stream;
            }
            return state == State.PENDING && connector.isPolled() ? connector : null;
        }
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
        StringBuilder text = new StringBuilder(SocketChannel.class.getName()).append('[');
        switch (state) {
            case UNCONNECTED -> text.append("unconnected");
            case PENDING -> text.append("connection-pending");
            case CONNECTED -> text.append("connected");
            case CLOSED -> text.append("closed");
        }
        if (state == State.CONNECTED) {
            text.append(stream != null ? " via " + stream.stream.transport() : " via tcp");
        }
        if (isOpen() && localAddress != null) {
            text.append(" local=").append(localAddress);
        }
        if (isOpen() && remoteAddress != null) {
            text.append(" remote=").append(remoteAddress);
        }
        return text.append(']').toString();
    }
}
