package io.verbena.rdma.verbs;

/**
 * Something that happened to a device, not to a work request (ibv_get_async_event(3)).
 *
 * @param kind what happened
 * @param port the port of PORT_ACTIVE and PORT_DOWN, else 0
 * @param qpNum the queue pair of QP_FATAL, else 0
 */
public record DeviceEvent(Kind kind, int port, int qpNum) {
    /** The events that Verbena tells apart. */
    public enum Kind {
        /** A port came up. */
        PORT_ACTIVE,
        /** A port went down: nothing travels until it comes back, and no completion need say so. */
        PORT_DOWN,
        /** A queue pair went into the error state. */
        QP_FATAL,
        /** A completion queue overran; what it would have held is lost. */
        CQ_ERROR,
        /** The device is broken or gone, and every object on it with it. */
        DEVICE_FATAL,
        /** Anything else. */
        OTHER
    }
}
