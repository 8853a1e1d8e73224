package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.IbvMr;
import java.nio.ByteBuffer;

/**
 * Memory that a device allocated and registered.
 *
 * <p>The peer may write it at any time if it was given remote access: copy, then check, then use. Not thread-safe;
 * close it after its queue pair is destroyed.
 */
public interface RegisteredMemory extends AutoCloseable {
    /** A view of the whole memory in native byte order; use absolute access only. */
    ByteBuffer buffer();

    /** The memory region: address, length, lkey, rkey. */
    IbvMr mr();

    /** Deregisters and frees the memory; later use of {@link #buffer} fails with an exception, never a crash. */
    @Override
    void close();
}
