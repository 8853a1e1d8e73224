package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.nio.ByteBuffer;

/** What DiSNI's {@code RdmaCmId} lacks; every backend's id implements it. Thread-safe as the rdma_cm calls are. */
public interface ConnectionId {
    /**
     * Refuses a connect request (rdma_reject(3)).
     *
     * @param privateData at most 148 bytes from position to limit, for the peer's REJECTED event; may be empty
     * @throws IOException if the id has no request pending
     */
    void reject(ByteBuffer privateData) throws IOException;

    /** Moves the id, and its events to come, to another event channel (rdma_migrate_id(3)). */
    void migrate(RdmaEventChannel channel) throws IOException;

    /**
     * Sets an option (rdma_set_option(3)).
     *
     * @throws UnsupportedOperationException if the backend does not know it
     */
    void setOption(int level, int name, int value) throws IOException;

    /**
     * Reads eight aligned bytes of the peer's registered memory, also after the peer's death, where the device can
     * (soft); a plain read of shared memory, no work request.
     *
     * @param remoteAddr address in a region that the peer gave this connection
     * @param rkey the region's key
     * @throws UnsupportedOperationException if the device can't
     * @throws IndexOutOfBoundsException if the address is outside the region
     */
    long readPeerLong(long remoteAddr, int rkey);

    /** Whether {@link #readPeerLong} works. */
    boolean canReadPeer();
}
