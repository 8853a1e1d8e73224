package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The verbs of the data path, which C inlines: calls through the function pointers of {@code ibv_context.ops}.
 *
 * <p>Each returns an errno itself, so none is captured. Polling never enters the kernel for long and is a critical
 * call; posting may be a system call (rxe, siw) and is not. Nothing is allocated.
 */
final class FastPath {
    private static final MethodHandle POLL_CQ = Linker.nativeLinker()
            .downcallHandle(
                    FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, ADDRESS), Linker.Option.critical(false));
    private static final MethodHandle REQ_NOTIFY_CQ =
            Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle POST =
            Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS));

    private FastPath() {}

    /** ibv_poll_cq(3): the number of completions, negative on failure. */
    static int pollCq(MemorySegment function, long cq, int count, MemorySegment completions) {
        try {
            return (int) POLL_CQ.invokeExact(function, cq, count, completions);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** ibv_req_notify_cq(3): 0 or an errno. */
    static int reqNotifyCq(MemorySegment function, long cq, int solicitedOnly) {
        try {
            return (int) REQ_NOTIFY_CQ.invokeExact(function, cq, solicitedOnly);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** ibv_post_send(3), ibv_post_recv(3): 0 or an errno; {@code bad} gets the first request that was not posted. */
    static int post(MemorySegment function, long qp, MemorySegment requests, MemorySegment bad) {
        try {
            return (int) POST.invokeExact(function, qp, requests, bad);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    private static AssertionError unexpected(Throwable t) {
        return new AssertionError("a downcall threw", t);
    }
}
