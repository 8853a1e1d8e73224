package io.verbena.rdma.backend.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.verbena.rdma.backend.soft.SegmentPool.Block;
import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * What one connection has on this side: the Unix socket, our blocks in the pair's pool, the peer's memory.
 *
 * <p><b>Reuse.</b> A block that the peer was told of is freed only after the peer's socket has reached its end. An
 * honest peer shuts its socket down after its send queue has stopped for good (both under the send queue's lock, see
 * {@link SoftQp#fail}), so from then on nobody writes to the block.
 *
 * <p>Thread-safe. Every use of the descriptor is under this object's lock, so a late caller never touches a descriptor
 * that was closed and given out again; it is never held while blocking. Lock order: send queue, connection, pool.
 */
final class Connection {
    /** Wake-ups that the peer may send beyond those we armed for, before it counts as hostile. */
    private static final int WAKE_SLACK = 16;

    private static final MemorySegment ZERO_TIMEOUT = Arena.global().allocate(16, 8);

    /** For the calls made under the lock. */
    private final MemorySegment scratch = Arena.ofAuto().allocate(16, 8);

    private final Pair pair;
    private final KeyTable keys = new KeyTable();
    /** Our memory, freed blocks that the peer may still write included. */
    private final List<Block> blocks = new ArrayList<>();

    private final List<Block> deferred = new ArrayList<>();
    /** What was announced; empty before. */
    private List<Segment> segments = List.of();

    /** -1 once closed. */
    private int fd;

    private boolean announced;
    private boolean idDestroyed;
    private boolean pairReleased;
    private PeerMemory peer;
    private long wakes;
    private long armedWhenConsumed;
    private boolean readyReceived;
    private Runnable readyListener = () -> {};
    private volatile boolean peerEnded;

    /** Takes over the descriptor and one use of the pair. */
    Connection(int fd, Pair pair) {
        this.fd = fd;
        this.pair = pair;
    }

    Pair pair() {
        return pair;
    }

    /** The descriptor as long as {@link #close} was not called. */
    synchronized int fd() {
        return fd;
    }

    // --- memory ----------------------------------------------------------------------------------------------------

    /**
     * Allocates memory of ours that the peer may write.
     *
     * @throws IOException also if the memory announced to the peer has no room
     */
    synchronized Block allocate(long bytes) throws IOException {
        if (idDestroyed) {
            throw new IOException("the connection is closed");
        }
        Block block = announced ? pair.pool.allocateWithin(bytes, segments) : pair.pool.allocate(bytes);
        if (block == null) {
            throw new IOException("no room for " + bytes
                    + " bytes in the memory shared with the peer; allocate before connect or accept");
        }
        boolean added = blocks.add(block);
        assert added;
        return block;
    }

    /** Frees a block, at once or as soon as the peer can't write to it any more. */
    synchronized void free(Block block) {
        if (announced && !peerEnded) {
            boolean added = deferred.add(block);
            assert added;
        } else {
            freeNow(block);
        }
    }

    private void freeNow(Block block) {
        pair.pool.free(block);
        boolean removed = blocks.remove(block);
        assert removed;
        releasePairWhenUnused();
    }

    private void releasePairWhenUnused() {
        if (idDestroyed && fd < 0 && blocks.isEmpty() && !pairReleased) {
            pairReleased = true;
            if (peer != null) {
                peer.unmap();
            }
            pair.release();
        }
    }

    KeyTable keys() {
        return keys;
    }

    /** Maps the peer's memory; see {@link PeerMemory#map}. */
    synchronized PeerMemory attach(Handshake message, int[] fds) throws IOException {
        peer = PeerMemory.map(pair, message, fds);
        return peer;
    }

    /** The peer's memory, or null before the connection is set up. */
    synchronized PeerMemory peer() {
        return peer;
    }

    // --- set-up ----------------------------------------------------------------------------------------------------

    /** Sends a message of the set-up that carries our memory. */
    synchronized void sendHandshake(Handshake message, Block block) throws IOException {
        segments = blocks.stream().map(Block::segment).distinct().toList();
        List<Handshake.Part> parts = new ArrayList<>();
        int[] fds = new int[segments.size()];
        for (int i = 0; i < fds.length; i++) {
            parts.add(new Handshake.Part(segments.get(i).id, segments.get(i).bytes));
            fds[i] = segments.get(i).fd;
        }
        Handshake complete = new Handshake(
                message.type(),
                pair.idHigh,
                pair.idLow,
                message.source(),
                message.destination(),
                message.qpNum(),
                message.ringEntries(),
                segments.indexOf(block.segment()),
                block.offset(),
                parts,
                0,
                message.privateData());
        send(complete.encode(), fds);
        announced = true;
    }

    /** Sends READY. */
    synchronized void sendReady() throws IOException {
        send(new byte[] {HandshakeDescriptor.READY}, new int[0]);
    }

    /** Sends a refusal and shuts down: nothing of ours knows the peer's memory. */
    synchronized void reject(byte[] message) throws IOException {
        send(message, new int[0]);
        int unused = Linux.shutdown(fd, Linux.SHUT_WR);
    }

    private void send(byte[] message, int[] fds) throws IOException {
        long sent = fd < 0 ? -Errno.ENOTCONN : UnixSocket.send(fd, message, fds);
        if (sent < 0) {
            throw new CmException("sendmsg to the peer process", (int) sent);
        }
    }

    /** Receives a message of the set-up; null if there is none now. */
    synchronized UnixSocket.Received receiveHandshake() throws IOException {
        return fd < 0
                ? new UnixSocket.Received(new byte[0], new int[0])
                : UnixSocket.receive(fd, HandshakeDescriptor.MAX_BYTES, HandshakeDescriptor.MAX_SEGMENTS);
    }

    // --- wake-ups --------------------------------------------------------------------------------------------------

    /** Wakes the peer. A full socket is as good: the peer's end is readable already. */
    synchronized void wake() {
        if (fd >= 0) {
            scratch.set(JAVA_BYTE, 0, HandshakeDescriptor.WAKE);
            long unused = Linux.send(fd, scratch, 1, Linux.MSG_DONTWAIT | Linux.MSG_NOSIGNAL);
        }
    }

    /**
     * Takes the wake-ups that are there.
     *
     * @param armed how often we armed: an honest peer sends no more wake-ups than that
     * @return the number of wake-ups; -1 at the peer's end or if it is hostile
     */
    int consume(long armed) {
        boolean wasReady;
        int taken;
        synchronized (this) {
            wasReady = readyReceived;
            taken = receiveWakes(armed);
            if (wasReady == readyReceived) {
                return taken;
            }
        }
        // Not under the lock: the id's lock comes before this one.
        readyListener.run();
        return taken;
    }

    private int receiveWakes(long armed) {
        assert Thread.holdsLock(this);
        if (peer == null) {
            // What is there is a message of the set-up, for the event channel to read.
            return 0;
        }
        // After a single arm there is at most one wake-up: no need to be told that there is no second.
        boolean single = armed - armedWhenConsumed == 1;
        armedWhenConsumed = armed;
        int taken = 0;
        while (fd >= 0) {
            long n = Linux.recv(fd, scratch, 2, Linux.MSG_DONTWAIT);
            if (n == -Errno.EAGAIN || n == -Errno.EINTR) {
                return taken;
            }
            byte kind = n == 1 ? scratch.get(JAVA_BYTE, 0) : 0;
            if (kind == HandshakeDescriptor.READY && !readyReceived) {
                readyReceived = true;
                continue;
            }
            if (kind == HandshakeDescriptor.WAKE && ++wakes <= armed + WAKE_SLACK) {
                taken++;
            } else {
                return -1;
            }
            if (single || wakes == armed) {
                return taken;
            }
        }
        return -1;
    }

    /** Sets who is told when {@link #consume} comes across the client's READY. */
    synchronized void onReady(Runnable listener) {
        readyListener = listener;
    }

    /** How many wake-ups were taken. */
    synchronized long wakes() {
        return wakes;
    }

    /**
     * Whether the client's READY has come: reads one message unless {@link #consume} came across it before.
     *
     * @throws IOException if another message came in its place
     */
    synchronized boolean receiveReady() throws IOException {
        if (!readyReceived && fd >= 0) {
            long n = Linux.recv(fd, scratch, 2, Linux.MSG_DONTWAIT);
            readyReceived = n == 1 && scratch.get(JAVA_BYTE, 0) == HandshakeDescriptor.READY;
            if (n > 0 && !readyReceived) {
                throw new CmException("recv of the client's READY", -Errno.EPROTO);
            }
        }
        return readyReceived;
    }

    /** Whether the peer closed or shut down: a system call, leaves wake-ups where they are. */
    synchronized boolean isPeerEnded() {
        if (!peerEnded && fd >= 0) {
            scratch.set(JAVA_INT, 0, fd);
            scratch.set(JAVA_INT, 4, Linux.POLLRDHUP);
            // A NULL time-out would wait for ever.
            return Linux.ppoll(scratch, 1, ZERO_TIMEOUT, MemorySegment.NULL) > 0;
        }
        return true;
    }

    // --- the end ---------------------------------------------------------------------------------------------------

    /**
     * Tells the peer that nothing of ours will touch its memory any more: our send queue has stopped. Nothing happens
     * as long as the peer does not know of us. Idempotent.
     */
    synchronized void shutdown() {
        if (fd >= 0 && announced) {
            int unused = Linux.shutdown(fd, Linux.SHUT_WR);
        }
    }

    /** The peer's socket has reached its end: blocks waiting for that are freed. Idempotent. */
    synchronized void peerEnded() {
        peerEnded = true;
        List<Block> free = List.copyOf(deferred);
        deferred.clear();
        free.forEach(this::freeNow);
    }

    /**
     * The id was destroyed.
     *
     * @return whether the socket can be closed now; if not, the caller waits for the peer's end, calls
     *     {@link #peerEnded} and then {@link #close}
     */
    synchronized boolean destroyed() {
        idDestroyed = true;
        if (announced && isPeerEnded()) {
            peerEnded();
        }
        return !announced || peerEnded;
    }

    /** Closes the socket; blocks that wait for the peer's end are not used again, only their pages freed. Idempotent. */
    synchronized void close() {
        if (fd >= 0) {
            int unused = Linux.close(fd);
            fd = -1;
            for (Block block : deferred) {
                block.segment().punch(block.offset(), block.bytes());
                boolean removed = blocks.remove(block);
                assert removed;
            }
            deferred.clear();
            releasePairWhenUnused();
        }
    }
}
