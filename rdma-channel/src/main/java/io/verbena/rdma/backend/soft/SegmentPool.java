package io.verbena.rdma.backend.soft;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Our own memory that one peer process may write: segments, and blocks within them. Thread-safe.
 *
 * <p>A block must not be freed before the peer can't write to it any more: see {@link Connection}.
 */
final class SegmentPool {
    private final List<Arena> arenas = new ArrayList<>();
    private boolean closed;

    /** A range of a segment, a multiple of the page size. */
    record Block(Segment segment, long offset, long bytes) {}

    /** A segment and its free ranges by offset. */
    private static final class Arena {
        final Segment segment;
        final TreeMap<Long, Long> free = new TreeMap<>();

        Arena(Segment segment) {
            this.segment = segment;
            free.put(0L, segment.bytes);
        }

        Block allocate(long bytes) {
            long offset = firstFit(bytes);
            if (offset < 0) {
                return null;
            }
            Long length = free.remove(offset);
            if (length > bytes) {
                Long unused = free.put(offset + bytes, length - bytes);
            }
            return new Block(segment, offset, bytes);
        }

        private long firstFit(long bytes) {
            for (Map.Entry<Long, Long> range : free.entrySet()) {
                if (range.getValue() >= bytes) {
                    return range.getKey();
                }
            }
            return -1;
        }

        void free(Block block) {
            long offset = block.offset();
            long length = block.bytes();
            Map.Entry<Long, Long> before = free.lowerEntry(offset);
            if (before != null && before.getKey() + before.getValue() == offset) {
                offset = before.getKey();
                length += before.getValue();
            }
            Long after = free.remove(block.offset() + block.bytes());
            Long unused = free.put(offset, after == null ? length : length + after);
        }

        boolean isEmpty() {
            Long length = free.get(0L);
            return length != null && length == segment.bytes;
        }
    }

    /**
     * Allocates zeroed memory.
     *
     * @param bytes the size wanted; rounded up to whole pages
     * @throws IOException if there is no more memory to be had
     */
    synchronized Block allocate(long bytes) throws IOException {
        long rounded = round(bytes);
        Block block = allocateFromExisting(rounded, null);
        if (block != null) {
            return block;
        }
        if (rounded > Segment.MAX_BYTES) {
            throw new IOException(bytes + " bytes of shared memory asked for; at most " + Segment.MAX_BYTES);
        }
        if (closed) {
            throw new IOException("the connection is closed");
        }
        Arena arena = new Arena(Segment.create(Math.max(Segment.BYTES, rounded)));
        arenas.add(arena);
        return arena.allocate(rounded);
    }

    /** As {@link #allocate}, only from the segments given; null if none of them has room. */
    synchronized Block allocateWithin(long bytes, List<Segment> segments) {
        return allocateFromExisting(round(bytes), segments);
    }

    private static long round(long bytes) {
        return (bytes + Segment.PAGE_BYTES - 1) & -Segment.PAGE_BYTES;
    }

    private Block allocateFromExisting(long bytes, List<Segment> allowed) {
        for (Arena arena : arenas) {
            Block block = allowed == null || allowed.contains(arena.segment) ? arena.allocate(bytes) : null;
            if (block != null) {
                return block;
            }
        }
        return null;
    }

    /** Frees a block and its pages; of the segments without a block one is kept. */
    synchronized void free(Block block) {
        if (closed) {
            return;
        }
        block.segment().punch(block.offset(), block.bytes());
        boolean emptyKept = false;
        for (Arena arena : List.copyOf(arenas)) {
            if (arena.segment == block.segment()) {
                arena.free(block);
            }
            if (arena.isEmpty()) {
                boolean keep = !emptyKept && arena.segment.bytes == Segment.BYTES;
                emptyKept |= keep;
                if (!keep) {
                    boolean removed = arenas.remove(arena);
                    assert removed;
                    arena.segment.close();
                }
            }
        }
    }

    /** Unmaps everything; whoever still holds a block gets exceptions. Idempotent. */
    synchronized void close() {
        closed = true;
        arenas.forEach(arena -> arena.segment.close());
        arenas.clear();
    }
}
