package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.verbena.rdma.verbs.DeviceEvent;
import io.verbena.rdma.verbs.DeviceEvent.Kind;
import java.lang.foreign.MemorySegment;

/** Reads {@code struct ibv_async_event} (ibv_get_async_event(3)). */
final class AsyncEvents {
    private static final long ELEMENT = VerbsDescriptor.ASYNC_EVENT.offset("element.qp");
    private static final long EVENT_TYPE = VerbsDescriptor.ASYNC_EVENT.offset("event_type");
    private static final long QP_NUM = VerbsDescriptor.QP.offset("qp_num");

    private static final int CQ_ERR = 0;
    private static final int QP_FATAL = 1;
    private static final int QP_REQ_ERR = 2;
    private static final int QP_ACCESS_ERR = 3;
    private static final int DEVICE_FATAL = 8;
    private static final int PORT_ACTIVE = 9;
    private static final int PORT_ERR = 10;

    private AsyncEvents() {}

    /** Decodes an event that is not acked yet, so that the queue pair that it points to still exists. */
    static DeviceEvent decode(MemorySegment event) {
        return switch (event.get(JAVA_INT, EVENT_TYPE)) {
            case PORT_ACTIVE -> new DeviceEvent(Kind.PORT_ACTIVE, event.get(JAVA_INT, ELEMENT), 0);
            case PORT_ERR -> new DeviceEvent(Kind.PORT_DOWN, event.get(JAVA_INT, ELEMENT), 0);
            case QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR -> new DeviceEvent(Kind.QP_FATAL, 0, qpNum(event));
            case CQ_ERR -> new DeviceEvent(Kind.CQ_ERROR, 0, 0);
            case DEVICE_FATAL -> new DeviceEvent(Kind.DEVICE_FATAL, 0, 0);
            default -> new DeviceEvent(Kind.OTHER, 0, 0);
        };
    }

    private static int qpNum(MemorySegment event) {
        return VerbsDescriptor.QP.at(Struct.pointer(event, ELEMENT)).get(JAVA_INT, QP_NUM);
    }
}
