package io.verbena.rdma.backend.foreign;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Whole pages of native memory, kept for the next connection: touching fresh pages is the dearest part of a set-up.
 * Registrations are not kept, so that every connection has a key that no earlier peer knows. Thread-safe.
 */
final class PagePool {
    static final int PAGE_BYTES = 4096;

    /** What is kept at most while nobody uses it. */
    private static final long MAX_IDLE_BYTES = 32L << 20;

    private static final Map<Long, ArrayDeque<MemorySegment>> IDLE = new HashMap<>();
    private static long idleBytes;

    private PagePool() {}

    /** Zeroed pages for so many bytes; alive as long as the segment is reachable. */
    static MemorySegment take(int bytes) {
        long size = (bytes + PAGE_BYTES - 1L) / PAGE_BYTES * PAGE_BYTES;
        MemorySegment pages = takeIdle(size);
        return pages == null ? Arena.ofAuto().allocate(size, PAGE_BYTES) : pages.fill((byte) 0);
    }

    private static synchronized MemorySegment takeIdle(long size) {
        ArrayDeque<MemorySegment> same = IDLE.get(size);
        MemorySegment pages = same == null ? null : same.pollLast();
        if (pages != null) {
            idleBytes -= size;
        }
        return pages;
    }

    /** Gives pages back; no device and no view uses them any more. */
    static synchronized void give(MemorySegment pages) {
        if (idleBytes + pages.byteSize() <= MAX_IDLE_BYTES) {
            idleBytes += pages.byteSize();
            IDLE.computeIfAbsent(pages.byteSize(), size -> new ArrayDeque<>()).addLast(pages);
        }
    }
}
