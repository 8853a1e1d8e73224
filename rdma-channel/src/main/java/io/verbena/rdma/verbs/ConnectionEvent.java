package io.verbena.rdma.verbs;

import java.nio.ByteBuffer;

/** What DiSNI's {@code RdmaCmEvent} lacks; every backend's event implements it. Valid also after the event is acked. */
public interface ConnectionEvent {
    /**
     * The private data that came with CONNECT_REQUEST, ESTABLISHED (at the connecting side) or REJECTED.
     *
     * @return a read-only view, maybe longer than what was sent (IB pads it), empty if there was none
     */
    ByteBuffer privateData();
}
