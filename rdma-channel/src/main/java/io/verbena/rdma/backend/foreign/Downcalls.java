package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.verbena.rdma.sys.Errno;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.net.BindException;
import java.net.ConnectException;

/** How control-path C functions are bound and called: errno is captured per thread, results are 0 or a negative errno. */
final class Downcalls {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final long ERRNO_OFFSET =
            Linker.Option.captureStateLayout().byteOffset(PathElement.groupElement("errno"));

    /** One capture segment per thread: errno is the calling thread's. */
    private static final ThreadLocal<MemorySegment> CAPTURE =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(Linker.Option.captureStateLayout()));

    /** A call that returns 0, -1 with errno, or a positive errno: rdma-core has functions of each kind. */
    interface StatusCall {
        int run(MemorySegment capture) throws Throwable;
    }

    /** A call that returns a pointer, NULL with errno. */
    interface PointerCall {
        long run(MemorySegment capture) throws Throwable;
    }

    private Downcalls() {}

    static MethodHandle bind(SymbolLookup library, String name, FunctionDescriptor type) {
        MemorySegment symbol =
                library.find(name).orElseThrow(() -> new UnsatisfiedLinkError("rdma-core has no function " + name));
        return LINKER.downcallHandle(symbol, type, Linker.Option.captureCallState("errno"));
    }

    /** 0 or a negative errno. */
    static int status(StatusCall call) {
        MemorySegment capture = CAPTURE.get();
        try {
            int result = call.run(capture);
            return result >= 0 ? -result : -capture.get(JAVA_INT, ERRNO_OFFSET);
        } catch (Throwable t) {
            throw new AssertionError("a downcall threw", t);
        }
    }

    /** A pointer, or a negative errno. */
    static long pointer(PointerCall call) {
        MemorySegment capture = CAPTURE.get();
        try {
            long result = call.run(capture);
            return result != 0 ? result : -Math.max(1, capture.get(JAVA_INT, ERRNO_OFFSET));
        } catch (Throwable t) {
            throw new AssertionError("a downcall threw", t);
        }
    }

    /**
     * Throws if a status is a negative errno.
     *
     * @param status what {@link #status} returned
     * @param call the call's name
     * @param args its arguments, for the message
     */
    static void check(int status, String call, Object... args) throws IOException {
        if (status < 0) {
            throw failure(-status, call, args);
        }
    }

    /** Passes a pointer through, or throws if it is a negative errno. */
    static long check(long pointer, String call, Object... args) throws IOException {
        if (pointer < 0) {
            throw failure((int) -pointer, call, args);
        }
        return pointer;
    }

    /** The exception for a failed call, of the type that the JDK's own channels throw for this errno. */
    static IOException failure(int errno, String call, Object... args) {
        var text = new StringBuilder(call).append('(');
        for (int i = 0; i < args.length; i++) {
            text.append(i == 0 ? "" : ", ").append(args[i]);
        }
        String message = text.append(") failed: ").append(Errno.describe(errno)).toString();
        return switch (errno) {
            case Errno.EADDRINUSE, Errno.EADDRNOTAVAIL -> new BindException(message);
            case Errno.ECONNREFUSED -> new ConnectException(message);
            default -> new IOException(message);
        };
    }
}
