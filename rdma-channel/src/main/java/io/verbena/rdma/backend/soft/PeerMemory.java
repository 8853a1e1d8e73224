package io.verbena.rdma.backend.soft;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The peer's memory as one connection sees it: its block, and the regions that its key table names.
 *
 * <p>Everything in it may change or be nonsense at any time. A key is copied, checked against our own mapping, and used
 * from the copy. {@link #resolve} and the accessors of its result belong to the holder of the send queue's lock.
 */
final class PeerMemory {
    private final Pair pair;
    private final Segment[] segments;
    /** The peer's block, see {@link BlockDescriptor}. */
    final MemorySegment block;

    final int ringEntries;

    private final Key cached = new Key();
    private long position;

    /** A key as copied and checked. */
    private static final class Key {
        /** rkey and access as in the table; 0 is no key. */
        long rkeyAccess;

        long address;
        long length;
        long offset;
        Segment segment;
        ByteBuffer view;
    }

    private PeerMemory(Pair pair, Segment[] segments, MemorySegment block, int ringEntries) {
        this.pair = pair;
        this.segments = segments;
        this.block = block;
        this.ringEntries = ringEntries;
    }

    /**
     * Maps what a handshake message announces.
     *
     * @param fds one descriptor a segment; the caller closes them
     * @throws IOException if anything does not fit together; nothing stays mapped
     */
    static PeerMemory map(Pair pair, Handshake message, int[] fds) throws IOException {
        Segment[] segments = new Segment[message.segments().size()];
        int mapped = 0;
        try {
            if (fds.length != segments.length) {
                throw new IOException(
                        "the peer announces " + segments.length + " segments with " + fds.length + " descriptors");
            }
            for (; mapped < segments.length; mapped++) {
                Handshake.Part part = message.segments().get(mapped);
                segments[mapped] = pair.mapPeer(part.id(), fds[mapped], part.bytes());
            }
            return new PeerMemory(pair, segments, block(message, segments), message.ringEntries());
        } catch (IOException | RuntimeException e) {
            for (int i = 0; i < mapped; i++) {
                pair.unmapPeer(segments[i]);
            }
            throw e;
        }
    }

    private static MemorySegment block(Handshake message, Segment[] segments) throws IOException {
        int index = message.blockSegment();
        int entries = message.ringEntries();
        if (index < 0 || index >= segments.length || !BlockDescriptor.isRingEntries(entries)) {
            throw new IOException("the peer announces a block in segment " + index + " with " + entries + " entries");
        }
        long offset = message.blockOffset();
        long bytes = BlockDescriptor.bytes(entries);
        if (offset < 0 || offset % Segment.PAGE_BYTES != 0 || offset > segments[index].bytes - bytes) {
            throw new IOException("the peer announces a block at " + offset + ", outside its segment");
        }
        return segments[index].memory.asSlice(offset, bytes);
    }

    /** Unmaps; later use throws IllegalStateException or touches memory of the same peer, never a crash. */
    void unmap() {
        for (Segment segment : segments) {
            pair.unmapPeer(segment);
        }
    }

    /**
     * Finds memory by address and key.
     *
     * @param access the IBV_ACCESS_ flag needed
     * @return whether the key allows it; then {@link #target} and {@link #view} are where it is
     */
    boolean resolve(long remoteAddress, int rkey, int length, int access) {
        // Pairs with the release in KeyTable.publish: the other words of the entry are as published.
        long rkeyAccess = Shared.getAcquire(block, entry(rkey));
        if ((int) rkeyAccess != rkey || rkey == 0 || (rkeyAccess >>> 32 & access) == 0) {
            return false;
        }
        if (cached.rkeyAccess != rkeyAccess && !load(cached, entry(rkey), rkeyAccess)) {
            return false;
        }
        position = remoteAddress - cached.address;
        return position >= 0 && position <= cached.length && length <= cached.length - position;
    }

    /** The segment's memory that the last {@link #resolve} found; see {@link #targetOffset}. */
    MemorySegment target() {
        return cached.segment.memory;
    }

    /** The offset in {@link #target}. */
    long targetOffset() {
        return cached.offset + position;
    }

    /** A buffer on the whole region that the last {@link #resolve} found. */
    ByteBuffer view() {
        return cached.view;
    }

    /** The index in {@link #view}. */
    int viewIndex() {
        return (int) position;
    }

    private static long entry(int rkey) {
        return BlockDescriptor.KEYS + (rkey & BlockDescriptor.KEY_COUNT - 1) * BlockDescriptor.KEY_BYTES;
    }

    private boolean load(Key key, long entry, long rkeyAccess) {
        key.rkeyAccess = 0;
        key.address = Shared.getOpaque(block, entry + BlockDescriptor.KEY_ADDRESS);
        key.length = Shared.getOpaque(block, entry + BlockDescriptor.KEY_LENGTH);
        key.offset = Shared.getOpaque(block, entry + BlockDescriptor.KEY_OFFSET);
        key.segment = segment(Shared.getOpaque(block, entry + BlockDescriptor.KEY_SEGMENT));
        if (key.segment == null
                || key.offset < 0
                || key.length <= 0
                || key.length > key.segment.bytes
                || key.offset > key.segment.bytes - key.length) {
            return false;
        }
        key.view = key.segment.memory.asSlice(key.offset, key.length).asByteBuffer();
        key.rkeyAccess = rkeyAccess;
        return true;
    }

    private Segment segment(long id) {
        for (Segment segment : segments) {
            if (segment.id == id) {
                return segment;
            }
        }
        return null;
    }

    /** Reads a word of a region; thread-safe. */
    long readLong(long remoteAddress, int rkey) {
        long rkeyAccess = Shared.getAcquire(block, entry(rkey));
        Key key = new Key();
        long at = 0;
        boolean found = (int) rkeyAccess == rkey && rkey != 0 && load(key, entry(rkey), rkeyAccess);
        if (found) {
            at = remoteAddress - key.address;
        }
        if (!found || at < 0 || at > key.length - Long.BYTES || (key.offset + at) % Long.BYTES != 0) {
            throw new IndexOutOfBoundsException(
                    "no eight aligned bytes at 0x" + Long.toHexString(remoteAddress) + " with rkey " + rkey);
        }
        return Shared.getAcquire(key.segment.memory, key.offset + at);
    }
}
