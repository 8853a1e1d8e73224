package io.verbena.rdma.backend.foreign;

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
 * One method per function of librdmacm (rdma_cm(7)); see the manual page of {@code rdma_} and the method's name in
 * section 3. Pointers to the library's objects are longs. Each returns 0 or a negative errno, or a pointer or a
 * negative errno.
 */
final class RdmaCmCalls {
    private static final SymbolLookup LIBRARY = NativeLibraries.lookup(NativeLibraries.RDMACM);

    private static final MethodHandle CREATE_EVENT_CHANNEL =
            Downcalls.bind(LIBRARY, "rdma_create_event_channel", FunctionDescriptor.of(JAVA_LONG));
    private static final MethodHandle DESTROY_EVENT_CHANNEL =
            Downcalls.bind(LIBRARY, "rdma_destroy_event_channel", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle CREATE_ID = of("rdma_create_id", JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle DESTROY_ID = of("rdma_destroy_id", JAVA_LONG);
    private static final MethodHandle BIND_ADDR = of("rdma_bind_addr", JAVA_LONG, ADDRESS);
    private static final MethodHandle LISTEN = of("rdma_listen", JAVA_LONG, JAVA_INT);
    private static final MethodHandle RESOLVE_ADDR = of("rdma_resolve_addr", JAVA_LONG, ADDRESS, ADDRESS, JAVA_INT);
    private static final MethodHandle RESOLVE_ROUTE = of("rdma_resolve_route", JAVA_LONG, JAVA_INT);
    private static final MethodHandle CREATE_QP = of("rdma_create_qp", JAVA_LONG, JAVA_LONG, ADDRESS);
    private static final MethodHandle DESTROY_QP =
            Downcalls.bind(LIBRARY, "rdma_destroy_qp", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle CONNECT = of("rdma_connect", JAVA_LONG, ADDRESS);
    private static final MethodHandle ACCEPT = of("rdma_accept", JAVA_LONG, ADDRESS);
    private static final MethodHandle REJECT = of("rdma_reject", JAVA_LONG, ADDRESS, JAVA_BYTE);
    private static final MethodHandle DISCONNECT = of("rdma_disconnect", JAVA_LONG);
    private static final MethodHandle GET_CM_EVENT = of("rdma_get_cm_event", JAVA_LONG, ADDRESS);
    private static final MethodHandle ACK_CM_EVENT = of("rdma_ack_cm_event", JAVA_LONG);
    private static final MethodHandle SET_OPTION =
            of("rdma_set_option", JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG);
    private static final MethodHandle MIGRATE_ID = of("rdma_migrate_id", JAVA_LONG, JAVA_LONG);

    private RdmaCmCalls() {}

    private static MethodHandle of(String name, MemoryLayout... args) {
        return Downcalls.bind(LIBRARY, name, FunctionDescriptor.of(JAVA_INT, args));
    }

    /** Initialises the class: throws UnsatisfiedLinkError, the first time wrapped, if a function is missing. */
    static void load() {}

    static long createEventChannel() {
        return Downcalls.pointer(c -> (long) CREATE_EVENT_CHANNEL.invokeExact(c));
    }

    static void destroyEventChannel(long channel) {
        int unused = status(c -> {
            DESTROY_EVENT_CHANNEL.invokeExact(c, channel);
            return 0;
        });
    }

    static int createId(long channel, MemorySegment id, int portSpace) {
        return status(c -> (int) CREATE_ID.invokeExact(c, channel, id, 0L, portSpace));
    }

    /** Waits until the id's events are acked. */
    static int destroyId(long id) {
        return status(c -> (int) DESTROY_ID.invokeExact(c, id));
    }

    static int bindAddr(long id, MemorySegment address) {
        return status(c -> (int) BIND_ADDR.invokeExact(c, id, address));
    }

    static int listen(long id, int backlog) {
        return status(c -> (int) LISTEN.invokeExact(c, id, backlog));
    }

    static int resolveAddr(long id, MemorySegment source, MemorySegment destination, int timeoutMs) {
        return status(c -> (int) RESOLVE_ADDR.invokeExact(c, id, source, destination, timeoutMs));
    }

    static int resolveRoute(long id, int timeoutMs) {
        return status(c -> (int) RESOLVE_ROUTE.invokeExact(c, id, timeoutMs));
    }

    /** Writes what was granted to the attributes. */
    static int createQp(long id, long pd, MemorySegment attributes) {
        return status(c -> (int) CREATE_QP.invokeExact(c, id, pd, attributes));
    }

    static void destroyQp(long id) {
        int unused = status(c -> {
            DESTROY_QP.invokeExact(c, id);
            return 0;
        });
    }

    static int connect(long id, MemorySegment param) {
        return status(c -> (int) CONNECT.invokeExact(c, id, param));
    }

    static int accept(long id, MemorySegment param) {
        return status(c -> (int) ACCEPT.invokeExact(c, id, param));
    }

    static int reject(long id, MemorySegment privateData, byte length) {
        return status(c -> (int) REJECT.invokeExact(c, id, privateData, length));
    }

    static int disconnect(long id) {
        return status(c -> (int) DISCONNECT.invokeExact(c, id));
    }

    static int getCmEvent(long channel, MemorySegment event) {
        return status(c -> (int) GET_CM_EVENT.invokeExact(c, channel, event));
    }

    static int ackCmEvent(long event) {
        return status(c -> (int) ACK_CM_EVENT.invokeExact(c, event));
    }

    static int setOption(long id, int level, int name, MemorySegment value, long valueBytes) {
        return status(c -> (int) SET_OPTION.invokeExact(c, id, level, name, value, valueBytes));
    }

    /** Waits until the id's events are acked. */
    static int migrateId(long id, long channel) {
        return status(c -> (int) MIGRATE_ID.invokeExact(c, id, channel));
    }
}
