package io.verbena.rdma.backend.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** A client that does with socket and memory what it likes. */
final class RawClient implements AutoCloseable {
    static final int RING_ENTRIES = 256;

    final int fd;
    final InetSocketAddress server;
    /** Its own memory, which the server maps. */
    final Segment own = Segment.create(Segment.BYTES);

    /** Where its block is in {@link #own}. */
    long blockOffset = 1 << 16;

    /** The server's memory, once accepted. */
    Segment theirs;

    Handshake answer;
    int theirFd = -1;

    RawClient(int port) throws IOException {
        server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        Meeting meeting = Meeting.with(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), server);
        if (meeting.status() != 0) {
            throw new IOException("status " + meeting.status());
        }
        fd = meeting.fd();
    }

    /** A well-formed request. */
    Handshake request() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return new Handshake(
                HandshakeDescriptor.REQUEST,
                random.nextLong(),
                random.nextLong(),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 1),
                server,
                1,
                RING_ENTRIES,
                0,
                blockOffset,
                List.of(new Handshake.Part(own.id, own.bytes)),
                0,
                new byte[12]);
    }

    long send(byte[] message, int... fds) {
        return UnixSocket.send(fd, message, fds);
    }

    void connect() {
        long sent = send(request().encode(), own.fd);
        if (sent <= 0) {
            throw new AssertionError("sendmsg: " + sent);
        }
    }

    /** Reads the server's ACCEPT and maps its memory. */
    void readAccept() throws IOException {
        UnixSocket.Received received = null;
        while (received == null) {
            received = UnixSocket.receive(fd, HandshakeDescriptor.MAX_BYTES, HandshakeDescriptor.MAX_SEGMENTS);
        }
        answer = Handshake.decode(received.data());
        theirFd = received.fds()[0];
        theirs = Segment.map(
                answer.segments().get(0).id(), theirFd, answer.segments().get(0).bytes());
        long unused = send(new byte[] {HandshakeDescriptor.READY});
    }

    MemorySegment ownBlock() {
        return own.memory.asSlice(blockOffset, BlockDescriptor.bytes(RING_ENTRIES));
    }

    MemorySegment theirBlock() {
        return theirs.memory.asSlice(answer.blockOffset(), BlockDescriptor.bytes(answer.ringEntries()));
    }

    /** A key in its table for a range of its segment. */
    void putKey(int index, int rkey, long address, long length, long segmentId, long offset) {
        MemorySegment block = ownBlock();
        long at = BlockDescriptor.KEYS + index * BlockDescriptor.KEY_BYTES;
        Shared.setOpaque(block, at + BlockDescriptor.KEY_ADDRESS, address);
        Shared.setOpaque(block, at + BlockDescriptor.KEY_LENGTH, length);
        Shared.setOpaque(block, at + BlockDescriptor.KEY_SEGMENT, segmentId);
        Shared.setOpaque(block, at + BlockDescriptor.KEY_OFFSET, offset);
        Shared.setRelease(block, at, Integer.toUnsignedLong(rkey) | 3L << 32);
    }

    /** A memfd without seals. */
    static int unsealed(long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            int memfd = Linux.memfdCreate(arena.allocateFrom("bad"), Linux.MFD_CLOEXEC | Linux.MFD_ALLOW_SEALING);
            int unused = Linux.ftruncate(memfd, bytes);
            return memfd;
        }
    }

    static int seal(int memfd) {
        int result = Linux.fcntl(memfd, Linux.F_ADD_SEALS, Linux.F_SEAL_SHRINK | Linux.F_SEAL_GROW | Linux.F_SEAL_SEAL);
        assert result == 0;
        return memfd;
    }

    /** Fills its segment up to its block, so that a write where there should be none shows. */
    void fillOwn(byte value) {
        MemorySegment unused = own.memory.asSlice(0, blockOffset).fill(value);
    }

    /** Whether a range of its segment is as {@link #fillOwn} left it. */
    boolean untouched(long from, long to, byte value) {
        for (long i = from; i < to; i++) {
            if (own.memory.get(JAVA_BYTE, i) != value) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        int unused = Linux.close(fd);
        if (theirs != null) {
            theirs.close();
            unused = Linux.close(theirFd);
        }
        own.close();
    }
}
