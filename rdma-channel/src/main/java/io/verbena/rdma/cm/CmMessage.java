package io.verbena.rdma.cm;

import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import io.verbena.rdma.verbs.ConnectionEvent;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A copy of a CM event, taken before the event is acked (rdma_ack_cm_event(3): destroying an id waits for unacked
 * events).
 *
 * @param type the event
 * @param status 0 or a negative errno, or the CM's reject status
 * @param id the id that the event is about: for CONNECT_REQUEST the new one
 * @param listenId for CONNECT_REQUEST the listening id, else null
 * @param privateData what came with it, read-only, maybe empty
 */
public record CmMessage(Type type, int status, RdmaCmId id, RdmaCmId listenId, ByteBuffer privateData) {
    /** The events that Verbena tells apart (rdma_get_cm_event(3)). */
    public enum Type {
        ADDR_RESOLVED,
        ADDR_ERROR,
        ROUTE_RESOLVED,
        ROUTE_ERROR,
        CONNECT_REQUEST,
        CONNECT_ERROR,
        UNREACHABLE,
        REJECTED,
        ESTABLISHED,
        DISCONNECTED,
        DEVICE_REMOVAL,
        OTHER
    }

    /**
     * Copies an event and acks it.
     *
     * @throws IOException if the ack fails
     */
    public static CmMessage take(RdmaCmEvent event) throws IOException {
        Type type = type(event.getEvent());
        ByteBuffer data = event instanceof ConnectionEvent e ? copy(e.privateData()) : ByteBuffer.allocate(0);
        var message = new CmMessage(
                type, event.getStatus(), event.getConnIdPriv(), event.getListenIdPriv(), data.asReadOnlyBuffer());
        event.ackEvent();
        return message;
    }

    private static ByteBuffer copy(ByteBuffer data) {
        return ByteBuffer.allocate(data.remaining()).put(data.duplicate()).flip();
    }

    private static Type type(int event) {
        RdmaCmEvent.EventType[] known = RdmaCmEvent.EventType.values(); // in the order of enum rdma_cm_event_type
        return event >= 0 && event < known.length ? type(known[event]) : Type.OTHER;
    }

    private static Type type(RdmaCmEvent.EventType known) {
        return switch (known) {
            case RDMA_CM_EVENT_ADDR_RESOLVED -> Type.ADDR_RESOLVED;
            case RDMA_CM_EVENT_ADDR_ERROR -> Type.ADDR_ERROR;
            case RDMA_CM_EVENT_ROUTE_RESOLVED -> Type.ROUTE_RESOLVED;
            case RDMA_CM_EVENT_ROUTE_ERROR -> Type.ROUTE_ERROR;
            case RDMA_CM_EVENT_CONNECT_REQUEST -> Type.CONNECT_REQUEST;
            case RDMA_CM_EVENT_CONNECT_ERROR -> Type.CONNECT_ERROR;
            case RDMA_CM_EVENT_UNREACHABLE -> Type.UNREACHABLE;
            case RDMA_CM_EVENT_REJECTED -> Type.REJECTED;
            case RDMA_CM_EVENT_ESTABLISHED -> Type.ESTABLISHED;
            case RDMA_CM_EVENT_DISCONNECTED -> Type.DISCONNECTED;
            case RDMA_CM_EVENT_DEVICE_REMOVAL -> Type.DEVICE_REMOVAL;
            default -> Type.OTHER;
        };
    }
}
