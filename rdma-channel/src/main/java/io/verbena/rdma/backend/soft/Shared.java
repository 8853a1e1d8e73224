package io.verbena.rdma.backend.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/** Access to the 64-bit words of memory that two processes share. Each word has one writer. */
final class Shared {
    private static final VarHandle LONG = JAVA_LONG.varHandle();

    private Shared() {}

    /** A load after which everything is visible that the writer did before its {@link #setRelease}. */
    static long getAcquire(MemorySegment memory, long offset) {
        return (long) LONG.getAcquire(memory, offset);
    }

    /** A store that publishes everything done before it to who reads it with {@link #getAcquire}. */
    static void setRelease(MemorySegment memory, long offset, long value) {
        LONG.setRelease(memory, offset, value);
    }

    /** A load without ordering, never torn. */
    static long getOpaque(MemorySegment memory, long offset) {
        return (long) LONG.getOpaque(memory, offset);
    }

    /** A store without ordering, never torn. */
    static void setOpaque(MemorySegment memory, long offset, long value) {
        LONG.setOpaque(memory, offset, value);
    }
}
