package io.verbena.rdma.verbs;

import java.io.IOException;

/** A {@link Device} that reports asynchronous events; the soft device has none and does not implement it. */
public interface DeviceEventSource {
    /** A descriptor that is readable while an event is pending. It lives as long as the device. */
    int deviceEventFd();

    /**
     * Takes a pending event and acks it; does not wait. Thread-safe.
     *
     * @return the event, null if there is none
     * @throws IOException if the device can't be read any more: it is gone
     */
    DeviceEvent pollDeviceEvent() throws IOException;
}
