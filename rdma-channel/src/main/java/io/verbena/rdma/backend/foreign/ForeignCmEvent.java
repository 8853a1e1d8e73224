package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import io.verbena.rdma.verbs.ConnParam;
import io.verbena.rdma.verbs.ConnectionEvent;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** A copy of a CM event (rdma_get_cm_event(3)), which is acked already. */
final class ForeignCmEvent extends RdmaCmEvent implements ConnectionEvent {
    private static final Struct EVENT = RdmaCmDescriptor.CM_EVENT;
    private static final long ID = EVENT.offset("id");
    private static final long LISTEN_ID = EVENT.offset("listen_id");
    private static final long TYPE = EVENT.offset("event");
    private static final long STATUS = EVENT.offset("status");
    private static final long PRIVATE_DATA = EVENT.offset("param.conn.private_data");
    private static final long PRIVATE_DATA_LEN = EVENT.offset("param.conn.private_data_len");
    private static final long RESPONDER_RESOURCES = EVENT.offset("param.conn.responder_resources");
    private static final long INITIATOR_DEPTH = EVENT.offset("param.conn.initiator_depth");
    private static final long FLOW_CONTROL = EVENT.offset("param.conn.flow_control");
    private static final long RETRY_COUNT = EVENT.offset("param.conn.retry_count");
    private static final long RNR_RETRY_COUNT = EVENT.offset("param.conn.rnr_retry_count");
    private static final long QP_NUM = EVENT.offset("param.conn.qp_num");

    private static final int CONNECT_REQUEST = EventType.RDMA_CM_EVENT_CONNECT_REQUEST.ordinal();
    private static final int DISCONNECTED = EventType.RDMA_CM_EVENT_DISCONNECTED.ordinal();

    private final ByteBuffer privateData;

    private ForeignCmEvent(int event, int status, RdmaCmId listenId, RdmaCmId id, ConnParam param) throws IOException {
        super(event, listenId, id);
        this.status = status;
        this.conn = param;
        this.privateData = param.privateData();
    }

    /**
     * Copies an event that is not acked yet.
     *
     * @return the copy; null if it is about an id that this JVM is destroying or did not make
     */
    static ForeignCmEvent copy(MemorySegment event, ForeignEventChannel channel) throws IOException {
        int type = event.get(JAVA_INT, TYPE);
        long id = Struct.pointer(event, ID);
        ForeignCmId listener = null;
        ForeignCmId subject;
        if (type == CONNECT_REQUEST) {
            listener = ForeignCmId.find(Struct.pointer(event, LISTEN_ID));
            subject = ForeignCmId.adopt(id, channel);
            if (listener == null) {
                // Its listener goes away in another thread. Destroying waits for this event, so leave it to the caller.
                listener = ForeignCmId.destroyed(channel);
            }
        } else {
            subject = ForeignCmId.find(id);
        }
        return subject == null
                ? null
                : new ForeignCmEvent(type, event.get(JAVA_INT, STATUS), listener, subject, param(event, type));
    }

    /** The union holds connection parameters in the events that are about a connection. */
    private static ConnParam param(MemorySegment event, int type) {
        var param = new ConnParam();
        if (type < CONNECT_REQUEST || type > DISCONNECTED) {
            return param;
        }
        param.setResponder_resources(event.get(JAVA_BYTE, RESPONDER_RESOURCES));
        param.setInitiator_depth(event.get(JAVA_BYTE, INITIATOR_DEPTH));
        param.setFlow_control(event.get(JAVA_BYTE, FLOW_CONTROL));
        param.setRetry_count(event.get(JAVA_BYTE, RETRY_COUNT));
        param.setRnr_retry_count(event.get(JAVA_BYTE, RNR_RETRY_COUNT));
        param.setQp_num(event.get(JAVA_INT, QP_NUM));
        long address = Struct.pointer(event, PRIVATE_DATA);
        int length = Byte.toUnsignedInt(event.get(JAVA_BYTE, PRIVATE_DATA_LEN));
        if (address != 0 && length > 0) {
            param.setPrivateData(
                    MemorySegment.ofAddress(address).reinterpret(length).asByteBuffer());
        }
        return param;
    }

    @Override
    public ByteBuffer privateData() {
        return privateData.duplicate();
    }

    /** Nothing is left to do: see the class. */
    @Override
    public void ackEvent() {}
}
