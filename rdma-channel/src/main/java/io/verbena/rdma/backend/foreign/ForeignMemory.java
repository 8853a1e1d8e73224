package io.verbena.rdma.backend.foreign;

import com.ibm.disni.verbs.IbvMr;
import io.verbena.rdma.verbs.RegisteredMemory;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Native memory in whole pages of its own, registered. Whole pages, because registered ones are not inherited by a
 * child (ibv_fork_init(3)).
 */
final class ForeignMemory implements RegisteredMemory {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.backend.foreign");
    private static final int PAGE_BYTES = 4096;

    private final Arena arena;
    private final ByteBuffer buffer;
    private final ForeignMr mr;

    private ForeignMemory(Arena arena, ByteBuffer buffer, ForeignMr mr) {
        this.arena = arena;
        this.buffer = buffer;
        this.mr = mr;
    }

    static ForeignMemory allocate(ForeignPd pd, int bytes, int access) throws IOException {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes=" + bytes + " < 1");
        }
        Arena arena = Arena.ofShared();
        try {
            long pages = (bytes + PAGE_BYTES - 1L) / PAGE_BYTES;
            var memory = arena.allocate(pages * PAGE_BYTES, PAGE_BYTES).asSlice(0, bytes);
            ForeignMr mr = pd.register(memory.address(), bytes, access);
            return new ForeignMemory(arena, memory.asByteBuffer().order(ByteOrder.nativeOrder()), mr);
        } catch (OutOfMemoryError e) {
            arena.close();
            throw new IOException("no native memory for " + bytes + " bytes", e);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    @Override
    public ByteBuffer buffer() {
        return buffer;
    }

    @Override
    public IbvMr mr() {
        return mr;
    }

    @Override
    public void close() {
        if (!mr.isOpen()) {
            return;
        }
        try {
            mr.deregister();
        } catch (IOException e) {
            // The device may still write there: better to lose the memory than to free it.
            LOG.log(Level.WARNING, "memory stays allocated", e);
            return;
        }
        arena.close();
    }
}
