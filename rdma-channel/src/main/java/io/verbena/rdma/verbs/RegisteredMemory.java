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

    /**
     * Deregisters and frees the memory. Using {@link #buffer} afterwards is a mistake of the caller: it fails with an
     * exception or touches memory of a later region of the same peer, but never crashes the process.
     */
    @Override
    void close();
}
