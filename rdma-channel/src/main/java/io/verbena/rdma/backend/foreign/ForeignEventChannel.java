package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.verbena.rdma.sys.Errno;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** An event channel (rdma_create_event_channel(3)); its descriptor is non-blocking, close-on-exec. Thread-safe. */
final class ForeignEventChannel extends RdmaEventChannel {
    private static final long FD = RdmaCmDescriptor.EVENT_CHANNEL.offset("fd");

    private final long handle;

    private ForeignEventChannel(long handle, int fd) throws IOException {
        super(fd);
        this.handle = handle;
    }

    static ForeignEventChannel create() throws IOException {
        long handle = RdmaCmCalls.createEventChannel();
        if (handle < 0) {
            throw new IOException("rdma_create_event_channel failed: " + Errno.describe((int) -handle)
                    + "; is the module rdma_ucm loaded, and may this user open /dev/infiniband/rdma_cm?");
        }
        try {
            int fd = RdmaCmDescriptor.EVENT_CHANNEL.at(handle).get(JAVA_INT, FD);
            Descriptors.setNonBlocking(fd);
            return new ForeignEventChannel(handle, fd);
        } catch (IOException | RuntimeException e) {
            RdmaCmCalls.destroyEventChannel(handle);
            throw e;
        }
    }

    long handle() throws IOException {
        if (!isOpen) {
            throw new IOException("the event channel is destroyed");
        }
        return handle;
    }

    @Override
    public RdmaCmId createId(short portSpace) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment id = arena.allocate(JAVA_LONG);
            int status = RdmaCmCalls.createId(handle(), id, portSpace & 0xFFFF);
            Downcalls.check(status, "rdma_create_id", "portSpace=" + portSpace);
            return ForeignCmId.adopt(id.get(JAVA_LONG, 0), this);
        }
    }

    @Override
    public RdmaCmEvent getCmEvent(int timeoutMs) throws IOException {
        ForeignCmEvent event = nextEvent();
        while (event == null) {
            if (timeoutMs == 0 || (!Descriptors.awaitReadable(getFd(), timeoutMs) && timeoutMs > 0)) {
                return null;
            }
            event = nextEvent();
            if (event == null && timeoutMs > 0) {
                return null; // another thread took it, or the library kept it for itself
            }
        }
        return event;
    }

    /** The next event of an id that is not being destroyed, copied and acked; null if there is none. */
    private ForeignCmEvent nextEvent() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            while (true) {
                int status = RdmaCmCalls.getCmEvent(handle(), pointer);
                if (status == -Errno.EAGAIN) {
                    return null;
                }
                Downcalls.check(status, "rdma_get_cm_event");
                ForeignCmEvent event = copyAndAck(pointer.get(JAVA_LONG, 0));
                if (event != null) {
                    return event;
                }
            }
        }
    }

    private ForeignCmEvent copyAndAck(long event) throws IOException {
        try {
            return ForeignCmEvent.copy(RdmaCmDescriptor.CM_EVENT.at(event), this);
        } finally {
            Downcalls.check(RdmaCmCalls.ackCmEvent(event), "rdma_ack_cm_event");
        }
    }

    @Override
    public synchronized int destroyEventChannel() {
        if (isOpen) {
            isOpen = false;
            RdmaCmCalls.destroyEventChannel(handle);
        }
        return 0;
    }
}
