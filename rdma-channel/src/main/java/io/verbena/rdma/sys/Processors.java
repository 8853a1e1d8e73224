package io.verbena.rdma.sys;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Which processor a thread runs on (sched(7)). Thread-safe. */
public final class Processors {
    private static final int MASK_BYTES = 1024;

    private Processors() {}

    /**
     * Moves the calling platform thread to another of the processors that it may run on, and leaves it free to run on
     * all of them again: sched_setaffinity(2) twice.
     *
     * @return whether it was moved; false if it may run on one processor only, or the kernel refuses
     */
    public static boolean leaveCurrent() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment allowed = arena.allocate(MASK_BYTES, 8);
            int cpu = Linux.schedGetcpu();
            if (cpu < 0 || Linux.schedGetaffinity(0, MASK_BYTES, allowed) < 0) {
                return false;
            }
            MemorySegment others = arena.allocate(MASK_BYTES, 8).copyFrom(allowed);
            byte bits = others.get(JAVA_BYTE, cpu / 8);
            others.set(JAVA_BYTE, cpu / 8, (byte) (bits & ~(1 << cpu % 8)));
            // Fails with EINVAL if no processor is left.
            return Linux.schedSetaffinity(0, MASK_BYTES, others) == 0
                    && Linux.schedSetaffinity(0, MASK_BYTES, allowed) == 0;
        }
    }
}
