package io.verbena.rdma.sys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ProcessorsTest {
    private static MemorySegment affinity() {
        MemorySegment mask = Arena.ofAuto().allocate(1024, 8);
        assertTrue(Linux.schedGetaffinity(0, 1024, mask) >= 0);
        return mask;
    }

    private static void onThreadOfItsOwn(Runnable body) throws InterruptedException {
        var failure = new AtomicReference<Throwable>();
        Thread thread = Thread.ofPlatform().unstarted(body);
        thread.setUncaughtExceptionHandler((t, e) -> failure.set(e));
        thread.start();
        thread.join();
        if (failure.get() != null) {
            throw new AssertionError(failure.get());
        }
    }

    @Test
    void threadThatLeavesMayRunWhereItMightBefore() throws Exception {
        onThreadOfItsOwn(() -> {
            MemorySegment before = affinity();
            boolean several = Runtime.getRuntime().availableProcessors() > 1;
            assertEquals(several, Processors.leaveCurrent());
            assertEquals(-1, before.mismatch(affinity()));
        });
    }

    @Test
    void threadBoundToOneProcessorStays() throws Exception {
        onThreadOfItsOwn(() -> {
            MemorySegment one = Arena.ofAuto().allocate(1024, 8);
            int cpu = Linux.schedGetcpu();
            one.set(ValueLayout.JAVA_BYTE, cpu / 8, (byte) (1 << cpu % 8));
            assertEquals(0, Linux.schedSetaffinity(0, 1024, one));
            assertFalse(Processors.leaveCurrent());
            assertEquals(-1, one.mismatch(affinity()));
        });
    }
}
