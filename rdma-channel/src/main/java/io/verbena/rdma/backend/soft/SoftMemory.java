package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvMr;
import io.verbena.rdma.backend.soft.SegmentPool.Block;
import io.verbena.rdma.verbs.RegisteredMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A region in memory shared with the peer. */
final class SoftMemory implements RegisteredMemory {
    private final ByteBuffer buffer;
    private final SoftMr mr;

    private SoftMemory(ByteBuffer buffer, SoftMr mr) {
        this.buffer = buffer;
        this.mr = mr;
    }

    static SoftMemory allocate(Connection connection, SoftPd pd, int bytes, int access) throws IOException {
        if (bytes < 1) {
            throw new IOException("allocate failed: EINVAL (" + bytes + " bytes)");
        }
        Block block = connection.allocate(bytes);
        MemorySegment memory = block.segment().memory.asSlice(block.offset(), bytes);
        try {
            int rkey = connection.keys().add(block, bytes, access);
            SoftMr mr = pd.register(memory, access, rkey, () -> {
                connection.keys().remove(rkey);
                connection.free(block);
            });
            return new SoftMemory(memory.asByteBuffer().order(ByteOrder.nativeOrder()), mr);
        } catch (IOException e) {
            connection.free(block);
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
        mr.deregister();
    }
}
