package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaCmId;
import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceEvent;
import io.verbena.rdma.verbs.DeviceEventSource;
import io.verbena.rdma.verbs.DeviceTransport;
import io.verbena.rdma.verbs.RegisteredMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * An open device: the {@code struct ibv_context} that librdmacm opened and never closes. One object per device;
 * thread-safe.
 */
final class ForeignContext extends IbvContext implements Device, DeviceEventSource {
    private static final Struct CONTEXT = VerbsDescriptor.CONTEXT;
    private static final long CMD_FD = CONTEXT.offset("cmd_fd");
    private static final long ASYNC_FD = CONTEXT.offset("async_fd");
    private static final long NUM_COMP_VECTORS = CONTEXT.offset("num_comp_vectors");

    /** Guarded by itself. */
    private static final Map<Long, ForeignContext> CONTEXTS = new HashMap<>();

    private final long handle;
    private final DeviceLimits limits;
    private final int asyncFd;
    private final MemorySegment pollCq;
    private final MemorySegment reqNotifyCq;
    private final MemorySegment postSend;
    private final MemorySegment postRecv;

    /** Found out when it is first needed: -1 before. Guarded by this. */
    private int maxInlineData = -1;

    private ForeignContext(long handle, MemorySegment struct) throws IOException {
        super(struct.get(JAVA_INT, CMD_FD), struct.get(JAVA_INT, NUM_COMP_VECTORS));
        this.handle = handle;
        this.limits = DeviceLimits.query(handle, struct);
        this.asyncFd = struct.get(JAVA_INT, ASYNC_FD);
        this.pollCq = struct.get(ADDRESS, CONTEXT.offset("ops.poll_cq"));
        this.reqNotifyCq = struct.get(ADDRESS, CONTEXT.offset("ops.req_notify_cq"));
        this.postSend = struct.get(ADDRESS, CONTEXT.offset("ops.post_send"));
        this.postRecv = struct.get(ADDRESS, CONTEXT.offset("ops.post_recv"));
        Descriptors.setNonBlocking(asyncFd);
    }

    /** The object of a device. */
    static ForeignContext of(long handle) throws IOException {
        synchronized (CONTEXTS) {
            ForeignContext context = CONTEXTS.get(handle);
            if (context == null) {
                context = new ForeignContext(handle, CONTEXT.at(handle));
                CONTEXTS.put(handle, context);
            }
            return context;
        }
    }

    long handle() {
        return handle;
    }

    DeviceLimits limits() {
        return limits;
    }

    MemorySegment pollCq() {
        return pollCq;
    }

    MemorySegment reqNotifyCq() {
        return reqNotifyCq;
    }

    MemorySegment postSend() {
        return postSend;
    }

    MemorySegment postRecv() {
        return postRecv;
    }

    @Override
    public DeviceTransport transport() {
        return limits.transport();
    }

    @Override
    public int maxQpWr() {
        return limits.maxQpWr();
    }

    @Override
    public int maxCqe() {
        return limits.maxCqe();
    }

    @Override
    public boolean hasWriteWithImm() {
        return limits.transport() != DeviceTransport.IWARP;
    }

    @Override
    public synchronized int maxInlineData() {
        if (maxInlineData < 0) {
            maxInlineData = InlineProbe.run(this);
        }
        return maxInlineData;
    }

    @Override
    public IbvPd allocPd() throws IOException {
        return new ForeignPd(Downcalls.check(VerbsCalls.allocPd(handle), "ibv_alloc_pd", limits.name()), this);
    }

    @Override
    public IbvCompChannel createCompChannel() throws IOException {
        return ForeignCompChannel.create(this);
    }

    @Override
    public IbvCompChannel createCompChannel(RdmaCmId id) throws IOException {
        return createCompChannel();
    }

    @Override
    public IbvCQ createCQ(IbvCompChannel channel, int entries, int vector) throws IOException {
        return ForeignCq.create(this, (ForeignCompChannel) channel, entries, vector);
    }

    @Override
    public RegisteredMemory allocate(RdmaCmId id, IbvPd pd, int bytes, int access) throws IOException {
        return ForeignMemory.allocate((ForeignPd) pd, bytes, access);
    }

    /** On-demand paging is not used. */
    @Override
    public int queryOdpSupport() {
        return 0;
    }

    @Override
    public int deviceEventFd() {
        return asyncFd;
    }

    @Override
    public DeviceEvent pollDeviceEvent() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(VerbsDescriptor.ASYNC_EVENT.layout());
            int status = VerbsCalls.getAsyncEvent(handle, event);
            if (status == -Errno.EAGAIN) {
                return null;
            }
            Downcalls.check(status, "ibv_get_async_event", limits.name());
            try {
                return AsyncEvents.decode(event);
            } finally {
                VerbsCalls.ackAsyncEvent(event);
            }
        }
    }

    @Override
    public String toString() {
        return limits.name();
    }
}
