package io.verbena.rdma.backend.foreign;

import static io.verbena.rdma.backend.foreign.Downcalls.pointer;
import static io.verbena.rdma.backend.foreign.Downcalls.status;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * One method per function of libibverbs off the fast path; see the manual page of {@code ibv_} and the method's name
 * in section 3. Pointers to the library's objects are longs. Each returns 0 or a negative errno, or a pointer or a
 * negative errno.
 */
final class VerbsCalls {
    private static final SymbolLookup LIBRARY = NativeLibraries.lookup(NativeLibraries.IBVERBS);

    private static final MethodHandle FORK_INIT = of("ibv_fork_init");
    private static final MethodHandle QUERY_DEVICE = of("ibv_query_device", JAVA_LONG, ADDRESS);
    private static final MethodHandle QUERY_PORT = of("ibv_query_port", JAVA_LONG, JAVA_BYTE, ADDRESS);
    private static final MethodHandle ALLOC_PD = pointerTo("ibv_alloc_pd", JAVA_LONG);
    private static final MethodHandle DEALLOC_PD = of("ibv_dealloc_pd", JAVA_LONG);
    private static final MethodHandle REG_MR = pointerTo("ibv_reg_mr", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle DEREG_MR = of("ibv_dereg_mr", JAVA_LONG);
    private static final MethodHandle CREATE_COMP_CHANNEL = pointerTo("ibv_create_comp_channel", JAVA_LONG);
    private static final MethodHandle DESTROY_COMP_CHANNEL = of("ibv_destroy_comp_channel", JAVA_LONG);
    private static final MethodHandle CREATE_CQ =
            pointerTo("ibv_create_cq", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle DESTROY_CQ = of("ibv_destroy_cq", JAVA_LONG);
    private static final MethodHandle GET_CQ_EVENT = of("ibv_get_cq_event", JAVA_LONG, ADDRESS, ADDRESS);
    private static final MethodHandle ACK_CQ_EVENTS =
            Downcalls.bind(LIBRARY, "ibv_ack_cq_events", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
    private static final MethodHandle CREATE_QP = pointerTo("ibv_create_qp", JAVA_LONG, ADDRESS);
    private static final MethodHandle DESTROY_QP = of("ibv_destroy_qp", JAVA_LONG);
    private static final MethodHandle GET_ASYNC_EVENT = of("ibv_get_async_event", JAVA_LONG, ADDRESS);
    private static final MethodHandle ACK_ASYNC_EVENT =
            Downcalls.bind(LIBRARY, "ibv_ack_async_event", FunctionDescriptor.ofVoid(ADDRESS));

    private VerbsCalls() {}

    private static MethodHandle of(String name, MemoryLayout... args) {
        return Downcalls.bind(LIBRARY, name, FunctionDescriptor.of(JAVA_INT, args));
    }

    private static MethodHandle pointerTo(String name, MemoryLayout... args) {
        return Downcalls.bind(LIBRARY, name, FunctionDescriptor.of(JAVA_LONG, args));
    }

    /** Initialises the class: throws UnsatisfiedLinkError, the first time wrapped, if a function is missing. */
    static void load() {}

    static int forkInit() {
        return status(c -> (int) FORK_INIT.invokeExact(c));
    }

    static int queryDevice(long context, MemorySegment attributes) {
        return status(c -> (int) QUERY_DEVICE.invokeExact(c, context, attributes));
    }

    static int queryPort(long context, byte port, MemorySegment attributes) {
        return status(c -> (int) QUERY_PORT.invokeExact(c, context, port, attributes));
    }

    static long allocPd(long context) {
        return pointer(c -> (long) ALLOC_PD.invokeExact(c, context));
    }

    static int deallocPd(long pd) {
        return status(c -> (int) DEALLOC_PD.invokeExact(c, pd));
    }

    static long regMr(long pd, long address, long length, int access) {
        return pointer(c -> (long) REG_MR.invokeExact(c, pd, address, length, access));
    }

    static int deregMr(long mr) {
        return status(c -> (int) DEREG_MR.invokeExact(c, mr));
    }

    static long createCompChannel(long context) {
        return pointer(c -> (long) CREATE_COMP_CHANNEL.invokeExact(c, context));
    }

    static int destroyCompChannel(long channel) {
        return status(c -> (int) DESTROY_COMP_CHANNEL.invokeExact(c, channel));
    }

    static long createCq(long context, int entries, long channel, int vector) {
        return pointer(c -> (long) CREATE_CQ.invokeExact(c, context, entries, 0L, channel, vector));
    }

    /** Waits until the queue's events are acked. */
    static int destroyCq(long cq) {
        return status(c -> (int) DESTROY_CQ.invokeExact(c, cq));
    }

    static int getCqEvent(long channel, MemorySegment cq, MemorySegment cqContext) {
        return status(c -> (int) GET_CQ_EVENT.invokeExact(c, channel, cq, cqContext));
    }

    static void ackCqEvents(long cq, int count) {
        int unused = status(c -> {
            ACK_CQ_EVENTS.invokeExact(c, cq, count);
            return 0;
        });
    }

    /** Writes what was granted to the attributes. */
    static long createQp(long pd, MemorySegment attributes) {
        return pointer(c -> (long) CREATE_QP.invokeExact(c, pd, attributes));
    }

    static int destroyQp(long qp) {
        return status(c -> (int) DESTROY_QP.invokeExact(c, qp));
    }

    static int getAsyncEvent(long context, MemorySegment event) {
        return status(c -> (int) GET_ASYNC_EVENT.invokeExact(c, context, event));
    }

    static void ackAsyncEvent(MemorySegment event) {
        int unused = status(c -> {
            ACK_ASYNC_EVENT.invokeExact(c, event);
            return 0;
        });
    }
}
