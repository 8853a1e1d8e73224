package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.RdmaCmEvent;
import io.verbena.rdma.verbs.ConnParam;
import io.verbena.rdma.verbs.ConnectionEvent;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * An event of the connection manager. Immutable.
 *
 * <p>The status is 0, {@link #REJECTED_BY_PROGRAM} when the peer's program rejected, or a negative errno:
 *
 * <ul>
 *   <li>ADDR_ERROR: -ENETUNREACH the destination is no address of this host; -ECONNREFUSED nobody listens, or the
 *       listener does not use this device; -EPERM who answers is not the owner of the port; -EAGAIN the listener's
 *       backlog is full; -EMFILE, -ENFILE, -ENOMEM, … a limit of this process or host
 *   <li>REJECTED: -ECONNRESET the peer went away in the middle; -EPROTO it does not speak our protocol;
 *       -EADDRNOTAVAIL it found our address not to be local; -ENOMEM it had no memory for the connection
 *   <li>CONNECT_ERROR: -ENOMEM and such, a limit of this process
 * </ul>
 */
final class SoftCmEvent extends RdmaCmEvent implements ConnectionEvent {
    /** IB's reject code for "consumer defined", as a hardware device reports it. */
    static final int REJECTED_BY_PROGRAM = 28;

    private static final byte[] NONE = {};

    private final SoftCmId subject;
    private final byte[] privateData;

    /**
     * Makes an event.
     *
     * @param subject the id it happened to
     * @param listener the listening id of a CONNECT_REQUEST, else null
     */
    SoftCmEvent(EventType type, SoftCmId subject, SoftCmId listener, int status, byte[] privateData)
            throws IOException {
        super(type.ordinal(), listener, subject);
        this.subject = subject;
        this.status = status;
        this.privateData = privateData == null ? NONE : privateData;
        ConnParam param = new ConnParam();
        param.setPrivateData(ByteBuffer.wrap(this.privateData));
        this.conn = param;
    }

    boolean isFor(SoftCmId id) {
        return subject == id;
    }

    @Override
    public ByteBuffer privateData() {
        return ByteBuffer.wrap(privateData).asReadOnlyBuffer();
    }

    /** Nothing waits for acknowledgements here. */
    @Override
    public void ackEvent() {}
}
