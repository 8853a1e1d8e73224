package io.verbena.rdma.backend.foreign;

import com.ibm.disni.verbs.IbvMr;
import io.verbena.rdma.verbs.RegisteredMemory;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Native memory in whole pages of its own, registered; the pages come from a pool. Whole pages, because registered ones are not inherited by a
 * child (ibv_fork_init(3)).
 */
final class ForeignMemory implements RegisteredMemory {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.backend.foreign");

    /** Pages that a device may still write, since they could not be deregistered: never freed. */
    private static final Queue<MemorySegment> LOST = new ConcurrentLinkedQueue<>();

    /** The lifetime of {@link #buffer}, not of the pages. */
    private final Arena arena;

    private final MemorySegment pages;
    private final ByteBuffer buffer;
    private final ForeignMr mr;

    private ForeignMemory(Arena arena, MemorySegment pages, ByteBuffer buffer, ForeignMr mr) {
        this.arena = arena;
        this.pages = pages;
        this.buffer = buffer;
        this.mr = mr;
    }

    static ForeignMemory allocate(ForeignPd pd, int bytes, int access) throws IOException {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes=" + bytes + " < 1");
        }
        Arena arena = Arena.ofShared();
        try {
            MemorySegment pages = PagePool.take(bytes);
            MemorySegment memory = pages.reinterpret(bytes, arena, null);
            ForeignMr mr = pd.register(memory.address(), bytes, access);
            return new ForeignMemory(arena, pages, memory.asByteBuffer().order(ByteOrder.nativeOrder()), mr);
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
        arena.close();
        try {
            mr.deregister();
            PagePool.give(pages);
        } catch (IOException e) {
            LOST.add(pages);
            LOG.log(Level.WARNING, "memory stays allocated", e);
        }
    }
}
