package io.verbena.spi;

import io.verbena.rdma.stream.PendingConnect;
import io.verbena.rdma.stream.RdmaStream;
import io.verbena.rdma.stream.ReadinessListener;
import io.verbena.rdma.stream.Reason;
import io.verbena.rdma.stream.StreamFabric;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/**
 * One connect of a channel: by a stream if that can be, then by TCP.
 *
 * <pre>
 *   STREAM  --stream came-->  (the channel is connected)
 *     | refused, unreachable
 *     v
 *   TCP     --established-->  (the channel is connected)
 *     | refused
 *     v
 *   FAILED                    (finishConnect throws)
 * </pre>
 *
 * <p>Fields are guarded by the channel's {@code stateLock}; nothing blocks under it. {@link #connect} and
 * {@link #finish} run with the channel's {@code readLock} and {@code writeLock}; {@link #poll} needs neither, so that a
 * selector can move a connect on.
 */
final class Connector implements PollTarget {
    private final RdmaSocketChannel channel;
    private final InetSocketAddress remote;

    /** The stream's connect, null before it and once it failed. */
    private PendingConnect pending;

    private boolean tcpStarted;

    /** TCP said at once that it is connected, with nobody to tell yet. */
    private boolean tcpEstablished;

    /** Why TCP failed, with nobody to tell yet. */
    private IOException failure;

    private Reason reason;

    Connector(RdmaSocketChannel channel, InetSocketAddress remote) {
        this.channel = channel;
        this.remote = remote;
    }

    /** A blocking connect; {@code timeoutNs} 0 for none. */
    void connect(long timeoutNs) throws IOException {
        long start = System.nanoTime();
        if (beginStream(true)) {
            awaitStream(start, timeoutNs);
            if (adoptStream()) {
                return;
            }
        }
        connectTcp(start, timeoutNs);
    }

    /** Starts a non-blocking connect; true if it is established already. */
    boolean start() throws IOException {
        boolean streamUnderWay = beginStream(false);
        synchronized (channel.stateLock) {
            channel.ensureOpenAsync();
            if (streamUnderWay && (!pending.isDone() || pending.stream() != null)) {
                return false;
            }
            dropStream();
            return startTcp() && channel.tcpConnected(reason);
        }
    }

    /** Decides for the stream or TCP; the twin gets its port. */
    private boolean beginStream(boolean blocking) throws IOException {
        synchronized (channel.stateLock) {
            channel.ensureOpenAsync();
            if (channel.owner().config().mode() == Config.Mode.TCP) {
                reason = Reason.MODE_TCP;
                return false;
            }
            StreamFabric fabric = channel.owner().fabric();
            reason = fabric.unreachable(remote);
            if (reason != null) {
                return false;
            }
            InetSocketAddress local = channel.bindTwin(remote);
            if (local == null) {
                reason = Reason.NO_RESOURCES;
                return false;
            }
            pending = fabric.connect(local, remote, channel.ringBytes(), blocking);
            return true;
        }
    }

    /** Waits for the stream's outcome; interrupt and close end it by an exception. */
    private void awaitStream(long start, long timeoutNs) throws IOException {
        PendingConnect connect;
        synchronized (channel.stateLock) {
            channel.ensureOpenAsync();
            connect = pending;
        }
        if (connect == null) {
            return;
        }
        boolean done = false;
        try {
            channel.beginBlocking();
            while (!connect.isDone() && channel.isOpen()) {
                connect.await(remaining(start, timeoutNs), TimeUnit.NANOSECONDS);
            }
            done = connect.isDone();
        } finally {
            channel.endBlocking(done && channel.isOpen());
        }
    }

    private static long remaining(long start, long timeoutNs) throws SocketTimeoutException {
        if (timeoutNs <= 0) {
            return 0;
        }
        long remainingNs = timeoutNs - (System.nanoTime() - start);
        if (remainingNs <= 0) {
            throw new SocketTimeoutException("Connect timed out");
        }
        return remainingNs;
    }

    /** Makes the stream the channel's, or says that there is none. */
    private boolean adoptStream() throws IOException {
        synchronized (channel.stateLock) {
            channel.ensureOpenAsync();
            RdmaStream stream = pending.stream();
            if (stream == null) {
                dropStream();
                return false;
            }
            pending.release();
            pending = null;
            channel.streamConnected(stream);
            return true;
        }
    }

    /** The stream failed, or was not tried: TCP is next. */
    private void dropStream() {
        assert Thread.holdsLock(channel.stateLock);
        if (pending != null) {
            reason = pending.failure();
            pending.release();
            pending = null;
        }
    }

    private void connectTcp(long start, long timeoutNs) throws IOException {
        SocketChannel tcp;
        synchronized (channel.stateLock) {
            tcp = channel.freeTwin();
        }
        try {
            if (timeoutNs > 0) {
                long leftMs = Math.ceilDiv(remaining(start, timeoutNs), 1_000_000);
                tcp.socket().connect(remote, (int) Math.min(leftMs, Integer.MAX_VALUE));
            } else {
                tcp.connect(remote);
            }
        } catch (ClosedChannelException e) {
            throw asynchronous(e);
        }
        synchronized (channel.stateLock) {
            channel.ensureOpenAsync();
            boolean unused = channel.tcpConnected(reason);
        }
    }

    /** The channel was open when the operation began. */
    private static AsynchronousCloseException asynchronous(ClosedChannelException e) {
        return e instanceof AsynchronousCloseException async ? async : new AsynchronousCloseException();
    }

    /** Starts TCP's connect without blocking; true if it is established at once. */
    private boolean startTcp() throws IOException {
        assert Thread.holdsLock(channel.stateLock) && pending == null;
        SocketChannel tcp = channel.freeTwin();
        tcpStarted = true;
        boolean blocking = tcp.isBlocking();
        tcp.configureBlocking(false);
        boolean established = tcp.connect(remote);
        if (blocking) {
            tcp.configureBlocking(true);
        }
        return established;
    }

    /** As finishConnect: true if connected, false if not yet (never when blocking). */
    boolean finish(boolean blocking) throws IOException {
        if (blocking) {
            awaitStream(0, 0);
        }
        SocketChannel tcp;
        synchronized (channel.stateLock) {
            boolean ready = poll() != 0;
            if (pending != null) {
                return ready && adoptStream();
            }
            if (failure != null) {
                throw failure;
            }
            if (tcpEstablished) {
                return channel.tcpConnected(reason);
            }
            tcp = channel.twin();
        }
        return finishTcp(tcp);
    }

    private boolean finishTcp(SocketChannel tcp) throws IOException {
        boolean connected;
        try {
            connected = tcp.finishConnect();
        } catch (ClosedChannelException e) {
            throw asynchronous(e);
        }
        synchronized (channel.stateLock) {
            channel.ensureOpenAsync();
            return connected && channel.tcpConnected(reason);
        }
    }

    /** The channel closes. */
    void cancel() {
        assert Thread.holdsLock(channel.stateLock);
        if (pending != null) {
            pending.cancel();
            pending = null;
        }
    }

    /** Whether the JDK's channel is the one to be watched. */
    boolean isTcpUnderWay() {
        assert Thread.holdsLock(channel.stateLock);
        return tcpStarted && !isPolled();
    }

    /** Whether this object is the one to be watched. */
    boolean isPolled() {
        assert Thread.holdsLock(channel.stateLock);
        return pending != null || failure != null || tcpEstablished;
    }

    // --- PollTarget

    @Override
    public int ops() {
        return SelectionKey.OP_CONNECT;
    }

    @Override
    public int fd() {
        synchronized (channel.stateLock) {
            return pending == null ? -1 : pending.fd();
        }
    }

    @Override
    public boolean levelTriggered() {
        return true;
    }

    /** Starts TCP's connect if the stream's has failed; OP_CONNECT if {@link #finish} would now end. */
    @Override
    public int poll() {
        synchronized (channel.stateLock) {
            if (pending != null) {
                if (!pending.isDone()) {
                    return 0;
                }
                if (pending.stream() != null) {
                    return SelectionKey.OP_CONNECT;
                }
                fallBack();
            }
            return failure != null || tcpEstablished ? SelectionKey.OP_CONNECT : 0;
        }
    }

    private void fallBack() {
        assert Thread.holdsLock(channel.stateLock);
        dropStream();
        try {
            tcpEstablished = startTcp();
        } catch (IOException e) {
            failure = e;
        }
        channel.targetChanged();
    }

    @Override
    public int arm() {
        return poll();
    }

    @Override
    public void consumeEvent() {
        // the descriptor stays readable
    }

    @Override
    public void addListener(ReadinessListener listener) {
        // nobody else reaps
    }

    @Override
    public void removeListener(ReadinessListener listener) {
        // nothing was added
    }
}
