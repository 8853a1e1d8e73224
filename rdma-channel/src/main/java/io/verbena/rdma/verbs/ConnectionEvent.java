package io.verbena.rdma.verbs;

import java.nio.ByteBuffer;

/**
 * What DiSNI's {@code RdmaCmEvent} lacks; every backend's event implements it. Valid also after the event is acked.
 *
 * <p>{@code getStatus()} of the soft device's events is 0, 28 when the peer's program rejected (as IB has it), or a
 * negative errno. ADDR_ERROR: -ENETUNREACH the destination is no address of this host; -ECONNREFUSED nobody listens, or
 * the listener does not use the device; -EPERM who answers does not own the port; -EAGAIN its backlog is full; -EMFILE,
 * -ENFILE, -ENOMEM and such a limit here. REJECTED: -ECONNRESET the peer went away; -EPROTO it does not speak the
 * device's protocol; -EADDRNOTAVAIL it takes our address for foreign; -EMFILE and such a limit there.
 */
public interface ConnectionEvent {
    /**
     * The private data that came with CONNECT_REQUEST, ESTABLISHED (at the connecting side) or REJECTED.
     *
     * @return a read-only view, maybe longer than what was sent (IB pads it), empty if there was none
     */
    ByteBuffer privateData();
}
