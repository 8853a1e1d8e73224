package io.verbena.rdma.stream;

import com.ibm.disni.verbs.IbvWC;
import io.verbena.rdma.cm.ControlLoop;
import io.verbena.rdma.cm.Endpoint;
import io.verbena.rdma.cm.PostCalls;
import io.verbena.rdma.completion.CompletionPort;
import io.verbena.rdma.completion.Waiters;
import io.verbena.rdma.protocol.Immediate;
import io.verbena.rdma.protocol.ReadEnd;
import io.verbena.rdma.protocol.ReceiveHalf;
import io.verbena.rdma.protocol.ReceiveState;
import io.verbena.rdma.protocol.SendHalf;
import io.verbena.rdma.protocol.SendState;
import io.verbena.rdma.protocol.StreamProtocol;
import io.verbena.rdma.protocol.WriteEnd;
import io.verbena.rdma.verbs.DeviceTransport;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;

/**
 * A stream over one queue pair: the protocol core driven by a completion queue. Locks, fields and wake-ups are laid
 * down in CONCURRENCY.md.
 */
final class VerbsStream implements RdmaStream, Waiters.Source {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.stream");
    private static final int BOTH = READABLE | WRITABLE;
    private static final VarHandle CONSUMED =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final VarHandle DESTROYED;

    static {
        try {
            DESTROYED = MethodHandles.lookup().findVarHandle(VerbsStream.class, "destroyed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ReentrantLock pollLock = new ReentrantLock();
    private final ReentrantLock sendLock = new ReentrantLock();
    private final Waiters waiters = new Waiters(this);
    private final Endpoint endpoint;
    private final CompletionPort port;
    private final SendHalf tx;
    private final ReceiveHalf rx;
    private final MessageWriter writer;
    private final ByteBuffer ring;
    private final int consumedAt;
    private final PeerRing peer;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;

    /** Guarded by the poll lock; published so that readiness can be told without it. */
    private volatile boolean inputReady;

    /** Guarded by the poll lock: no completion is to be expected any more. */
    private boolean transportEnded;

    /** Guarded by the poll lock: a send completed with an error. */
    private boolean sendFailed;

    private volatile boolean inputShutdown;
    private volatile boolean closed;

    @SuppressWarnings("unused") // by VarHandle
    private volatile boolean destroyed;

    /** Guarded by the poll lock: the server's stream may be shown to the program. */
    private boolean established;

    /**
     * A stream on a connected endpoint.
     *
     * @param endpoint the verbs objects, owned from now on
     * @param protocol the connection's protocol core
     * @param peer where the peer's ring is
     * @param local the local address
     * @param remote the peer's address
     */
    VerbsStream(
            Endpoint endpoint,
            StreamProtocol protocol,
            PeerRing peer,
            InetSocketAddress local,
            InetSocketAddress remote)
            throws IOException {
        this.endpoint = endpoint;
        this.port = endpoint.port();
        this.tx = protocol.send();
        this.rx = protocol.receive();
        this.peer = peer;
        this.ring = endpoint.memory();
        this.consumedAt = rx.ring().ringBytes();
        this.writer = new MessageWriter(tx, endpoint.posts(), endpoint.sendRing(), peer);
        this.local = local;
        this.remote = remote;
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public String transport() {
        return endpoint.device().transport().name().toLowerCase(Locale.ROOT);
    }

    // --- reading ---------------------------------------------------------------------------------------------------

    @Override
    public int read(ByteBuffer dst) throws IOException {
        pollLock.lock();
        try {
            int end = beforeRead();
            if (end != 0 || !dst.hasRemaining()) {
                return dst.hasRemaining() ? end : 0;
            }
            int n = copyOut(dst);
            afterRead();
            return n > 0 ? n : readEnd();
        } finally {
            pollLock.unlock();
        }
    }

    @Override
    public long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
        pollLock.lock();
        try {
            int end = beforeRead();
            boolean wanted = false;
            long total = 0;
            for (int i = offset; i < offset + length && end == 0; i++) {
                wanted |= dsts[i].hasRemaining();
                total += copyOut(dsts[i]);
            }
            if (end != 0 || !wanted) {
                return end;
            }
            afterRead();
            return total > 0 ? total : readEnd();
        } finally {
            pollLock.unlock();
        }
    }

    /** Returns -1 if there is nothing to read for a reason of our own, else 0 with whatever arrived reaped. */
    private int beforeRead() throws IOException {
        checkOpen();
        if (inputShutdown) {
            return -1;
        }
        if (rx.readableBytes() == 0) {
            reap();
        }
        return 0;
    }

    private int copyOut(ByteBuffer dst) {
        int available = rx.readableBytes();
        if (available == 0 || !dst.hasRemaining()) {
            return 0;
        }
        int n = rx.ring().copyOut(ring, rx.readPosition(), dst, available);
        rx.consume(n);
        return n;
    }

    private void afterRead() {
        // Read by the peer after this process died (PROTOCOL.md): what it had read.
        CONSUMED.setRelease(ring, consumedAt, rx.readPosition());
        if (rx.replyDue()) {
            postReplies();
        }
        publishInput();
    }

    private int readEnd() throws IOException {
        ReadEnd end = rx.readEnd();
        if (end == ReadEnd.RESET) {
            throw new SocketException("Connection reset");
        }
        return end == ReadEnd.EOF ? -1 : 0;
    }

    private void publishInput() {
        boolean ready = rx.readableBytes() > 0 || rx.readEnd() != ReadEnd.NONE;
        if (ready != inputReady) {
            inputReady = ready;
        }
    }

    @Override
    public int available() {
        pollLock.lock();
        try {
            if (closed || inputShutdown) {
                return 0;
            }
            reap();
            return rx.readableBytes();
        } finally {
            pollLock.unlock();
        }
    }

    // --- writing ---------------------------------------------------------------------------------------------------

    @Override
    public int write(ByteBuffer src) throws IOException {
        poll();
        int n = tryWrite(src);
        if (n == 0 && src.hasRemaining()) {
            reapNow();
            n = tryWrite(src);
        }
        return n;
    }

    private int tryWrite(ByteBuffer src) throws IOException {
        sendLock.lock();
        try {
            checkWritable();
            return writer.write(src);
        } finally {
            sendLock.unlock();
        }
    }

    @Override
    public long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
        poll();
        long n = tryWrite(srcs, offset, length);
        if (n == 0) {
            reapNow();
            n = tryWrite(srcs, offset, length);
        }
        return n;
    }

    private long tryWrite(ByteBuffer[] srcs, int offset, int length) throws IOException {
        sendLock.lock();
        try {
            checkWritable();
            return writer.write(srcs, offset, length);
        } finally {
            sendLock.unlock();
        }
    }

    private void checkOpen() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    private void checkWritable() throws IOException {
        assert sendLock.isHeldByCurrentThread();
        checkOpen();
        WriteEnd end = tx.writeEnd();
        if (end == WriteEnd.NONE) {
            return;
        }
        switch (end) {
            case BROKEN_PIPE -> throw new IOException("Broken pipe");
            case RESET -> throw new SocketException("Connection reset");
            default -> throw new ClosedChannelException();
        }
    }

    // --- completions -----------------------------------------------------------------------------------------------

    @Override
    public int poll() {
        if (!closed && pollLock.tryLock()) {
            try {
                reap();
            } finally {
                pollLock.unlock();
            }
        }
        return readiness();
    }

    private void reapNow() {
        pollLock.lock();
        try {
            reap();
        } finally {
            pollLock.unlock();
        }
    }

    private int readiness() {
        if (closed) {
            return BOTH;
        }
        return (inputReady || inputShutdown ? READABLE : 0) | (tx.writable() ? WRITABLE : 0);
    }

    /** Takes all completions; under the poll lock. */
    private void reap() {
        assert pollLock.isHeldByCurrentThread();
        if (!pollable()) {
            return;
        }
        int events = 0;
        try {
            int n = port.poll();
            while (n > 0 && !transportEnded) {
                events |= handle(n);
                n = n < port.batch() && !sendFailed ? 0 : port.poll();
            }
            if (sendFailed || writer.failed()) {
                events |= transportEnd();
            }
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "the queue pair of {0} failed", this, e);
            events |= transportEnd();
        }
        if (events != 0) {
            afterReap(events);
        }
    }

    /** Whether completions are to be taken: not after the close, but by who lingers over what it left. */
    private boolean pollable() {
        return (!closed || lingering != null) && !transportEnded;
    }

    private int handle(int n) throws IOException {
        int receives = 0;
        for (int i = 0; i < n; i++) {
            if (isReceive(port.completion(i))) {
                endpoint.posts().takeImmediate(port.completion(i));
                receives++;
            }
        }
        if (receives > 0) {
            endpoint.posts().postReceives(receives); // before their messages are handled: PROTOCOL.md, section 5.3
        }
        int events = 0;
        for (int i = 0; i < n && !transportEnded; i++) {
            events |= handle(port.completion(i));
        }
        return events;
    }

    private static boolean isReceive(IbvWC completion) {
        return completion.getStatus() == 0 && completion.getOpcode() >= IbvWC.IbvWcOpcode.IBV_WC_RECV.getOpcode();
    }

    private int handle(IbvWC completion) {
        if (completion.getStatus() != 0) {
            return failed(completion);
        }
        if (isReceive(completion)) {
            return rx.onImmediate(completion.getImm_data(), completion.getByte_len());
        }
        tx.onSendCompletion(completion.getWr_id());
        return ReceiveHalf.WRITABLE;
    }

    /** An error on a receive comes after all that arrived; one on a send may come before, so the queue is emptied. */
    private int failed(IbvWC completion) {
        if (completion.getWr_id() == PostCalls.RECEIVE_ID) {
            return transportEnd();
        }
        sendFailed = true;
        return 0;
    }

    private int transportEnd() {
        if (transportEnded) {
            return 0;
        }
        transportEnded = true;
        // A peer that said FIN or RESET may be gone with its memory: it is not asked.
        return rx.onTransportEnd(rx.state() == ReceiveState.OPEN && peerReadEverything());
    }

    /** Whether a peer that ended without FIN had read all that we wrote: then TCP would have sent FIN for it. */
    private boolean peerReadEverything() {
        if (!endpoint.connection().canReadPeer()) {
            return false;
        }
        try {
            long consumed = endpoint.connection()
                    .readPeerLong(peer.address() + tx.peerRing().ringBytes(), peer.rkey());
            return consumed == tx.sentBytes();
        } catch (IndexOutOfBoundsException e) {
            return false; // the peer's key table is nonsense by now
        }
    }

    private void afterReap(int events) {
        if ((events & ReceiveHalf.ESTABLISHED) != 0) {
            established = true;
        }
        if ((events & ReceiveHalf.VIOLATED) != 0) {
            LOG.log(Level.WARNING, "{0}: {1}", this, rx.violation());
            postReset();
        } else if (rx.replyDue()) {
            postReplies();
        }
        if (inputShutdown) {
            CONSUMED.setRelease(ring, consumedAt, rx.readPosition());
        }
        publishInput();
        if (waiters.any()) {
            waiters.changed(readiness());
        }
    }

    private void postReplies() {
        sendLock.lock();
        try {
            for (int reply = rx.takeReply(); reply != Immediate.NONE; reply = rx.takeReply()) {
                if (controlSlot()) {
                    postControl(tx.commitReply(reply));
                }
            }
        } finally {
            sendLock.unlock();
        }
    }

    private void postReset() {
        sendLock.lock();
        try {
            if (controlSlot()) {
                postControl(tx.commitReset());
            }
        } finally {
            sendLock.unlock();
        }
    }

    /**
     * Takes send completions until a control message has a slot: waits for the device at most, and on soft for nothing
     * (its requests complete while they are posted).
     *
     * @return false if the connection is gone
     */
    private boolean controlSlot() {
        assert pollLock.isHeldByCurrentThread() && sendLock.isHeldByCurrentThread();
        while (!tx.hasControlSlot() && !transportEnded) {
            reap();
        }
        return !transportEnded;
    }

    private void postControl(int immediate) {
        if (immediate != Immediate.NONE) {
            writer.control(immediate);
        }
    }

    // --- waiting ---------------------------------------------------------------------------------------------------

    @Override
    public void await(int ops, long timeoutNs) throws IOException {
        waiters.await(ops, timeoutNs > 0 ? timeoutNs : Long.MAX_VALUE);
    }

    @Override
    public void wakeWaiters() {
        waiters.wakeAll();
    }

    @Override
    public int fd() {
        return port.fd();
    }

    @Override
    public int arm() {
        pollLock.lock();
        try {
            if (pollable()) {
                arm0();
                reap();
            }
        } finally {
            pollLock.unlock();
        }
        return readiness();
    }

    private void arm0() {
        try {
            port.arm();
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "the queue of {0} can't be armed", this, e);
            afterReap(transportEnd());
        }
    }

    @Override
    public void consumeEvent() {
        pollLock.lock();
        try {
            if (pollable()) {
                port.consumeEvent();
            }
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "the completion channel of {0} failed", this, e);
            afterReap(transportEnd());
        } finally {
            pollLock.unlock();
        }
    }

    @Override
    public void addListener(ReadinessListener listener) {
        waiters.addListener(listener);
    }

    @Override
    public void removeListener(ReadinessListener listener) {
        waiters.removeListener(listener);
    }

    // --- establishing and ending -----------------------------------------------------------------------------------

    /** The client's first message. */
    void sendHello() {
        sendLock.lock();
        try {
            postControl(tx.commitHello());
        } finally {
            sendLock.unlock();
        }
    }

    /** Whether the client's HELLO came. */
    boolean established() {
        poll();
        pollLock.lock();
        try {
            return established;
        } finally {
            pollLock.unlock();
        }
    }

    /** Whether the connection is gone. */
    boolean ended() {
        pollLock.lock();
        try {
            return transportEnded || closed;
        } finally {
            pollLock.unlock();
        }
    }

    /** Takes the CM's DISCONNECTED: reaps what is there, then ends. On the control thread. */
    void onDisconnected() {
        pollLock.lock();
        try {
            reap();
            int events = transportEnd(); // also between the close and its lingering
            if (!closed && events != 0) {
                afterReap(events);
            }
        } finally {
            pollLock.unlock();
        }
        if (lingering != null) {
            lingering.look();
        }
    }

    @Override
    public void shutdownInput() throws IOException {
        pollLock.lock();
        try {
            checkOpen();
            reap();
            inputShutdown = true;
            rx.discardInput();
            afterRead();
        } finally {
            pollLock.unlock();
        }
        waiters.changed(readiness());
    }

    @Override
    public void shutdownOutput() throws IOException {
        end(false, () -> tx.commitFin(false));
        waiters.changed(readiness());
    }

    private void end(boolean close, IntSupplier commit) throws ClosedChannelException {
        pollLock.lock();
        try {
            checkOpen();
            reap();
            sendLock.lock();
            try {
                if (controlSlot()) {
                    postControl(commit.getAsInt());
                }
                closed = close;
            } finally {
                sendLock.unlock();
            }
        } finally {
            pollLock.unlock();
        }
    }

    @Override
    public void close(boolean reset) {
        try {
            end(true, () -> abortive(reset) ? tx.commitReset() : tx.commitFin(true));
        } catch (ClosedChannelException e) {
            return; // by another thread
        }
        waiters.wakeAll();
        if (!waiters.any()) {
            destroy();
        }
    }

    private boolean abortive(boolean reset) {
        return reset || rx.readableBytes() > 0 || tx.state() == SendState.HELLO_OWED;
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void unwatched() {
        if (closed) {
            destroy();
        }
    }

    /** Once; nobody sleeps on the descriptor, and nobody is in a post or poll since closed was set under both locks. */
    private void destroy() {
        if (!DESTROYED.compareAndSet(this, false, true)) {
            return;
        }
        if (loop != null && mustLinger()) {
            loop.execute(this::linger);
        } else {
            release();
        }
    }

    /** The soft device delivers what was posted by itself; disconnecting any other throws it away. */
    private boolean mustLinger() {
        return endpoint.device().transport() != DeviceTransport.SOFT && !delivered();
    }

    /** Whether nothing is left to wait for before the queue pair is disconnected. */
    boolean delivered() {
        pollLock.lock();
        try {
            return transportEnded || tx.mayDisconnect();
        } finally {
            pollLock.unlock();
        }
    }

    private void linger() {
        pollLock.lock();
        try {
            lingering = new LingeringClose(loop, this);
        } finally {
            pollLock.unlock();
        }
        lingering.begin();
    }

    /** Destroys the verbs objects. */
    void release() {
        pollLock.lock();
        try {
            onDestroy.run();
            endpoint.close();
        } finally {
            pollLock.unlock();
        }
    }

    private Runnable onDestroy = () -> {};
    private ControlLoop loop;

    /** Set on the control thread under the poll lock. */
    private LingeringClose lingering;

    /**
     * Sets what runs before the verbs objects are destroyed; before the stream is given to anyone.
     *
     * @param controlLoop where the stream lingers after its close
     */
    void onDestroy(ControlLoop controlLoop, Runnable action) {
        loop = controlLoop;
        onDestroy = action;
    }

    @Override
    public String toString() {
        return "stream[" + local + " -> " + remote + ", " + tx + ", " + rx + "]";
    }
}
