package io.verbena.spi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * Makes an object of a class of java.base without running a constructor, by the JNI functions of the running JVM,
 * called through {@code java.lang.foreign}. The last resort of {@link JdkProvider}: it needs no module but java.base.
 *
 * <p>Functions are found by their place in the tables that the JNI specification lays down ("Interface Function Table",
 * "The Invocation API"). A local reference lives until the next native method of Java returns. So there is one method
 * handle for all calls, used once before it matters, and every result is made global with nothing but arithmetic in
 * between. The object is handed over in the system properties, which native code can reach, for a moment and under a
 * name of its own.
 */
final class JniObjects {
    private static final int JNI_VERSION_1_8 = 0x00010008;

    /** Place in JNIInvokeInterface. */
    private static final int GET_ENV = 6;

    // places in JNINativeInterface
    private static final int GET_VERSION = 4;
    private static final int FIND_CLASS = 6;
    private static final int EXCEPTION_CLEAR = 17;
    private static final int NEW_GLOBAL_REF = 21;
    private static final int DELETE_GLOBAL_REF = 22;
    private static final int ALLOC_OBJECT = 27;
    private static final int GET_METHOD_ID = 33;
    private static final int CALL_OBJECT_METHOD_A = 36;
    private static final int GET_STATIC_METHOD_ID = 113;
    private static final int CALL_STATIC_OBJECT_METHOD_A = 116;
    private static final int NEW_STRING_UTF = 167;
    private static final int PLACES = NEW_STRING_UTF + 1;

    private static final String HANDOVER = "io.verbena.spi.handover";

    /** Any function of up to four pointers; one that takes fewer does not see the rest, one that is void leaves rubbish. */
    private static final MethodHandle CALL = Linker.nativeLinker()
            .downcallHandle(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

    private final Arena arena;
    private final long env;
    private final MemorySegment[] functions = new MemorySegment[PLACES];
    private final long[] globals = new long[16];
    private int globalCount;

    private JniObjects(Arena arena) throws Throwable {
        this.arena = arena;
        this.env = env();
        for (int place = GET_VERSION; place < PLACES; place++) {
            functions[place] = function(env, place);
        }
        if ((int) call(GET_VERSION, 0, 0, 0) < JNI_VERSION_1_8) {
            throw new IllegalStateException("this is no table of JNI functions");
        }
        call(NEW_GLOBAL_REF, 0, 0, 0);
    }

    /**
     * Allocates an object.
     *
     * @param className the class's name with slashes
     * @throws IllegalStateException if the JVM does not let us
     */
    static Object allocate(String className) {
        try (Arena arena = Arena.ofConfined()) {
            JniObjects jni = new JniObjects(arena);
            try {
                return jni.make(className);
            } finally {
                jni.deleteGlobals();
            }
        } catch (Throwable e) {
            throw new IllegalStateException("the JVM's JNI functions do not give a " + className, e);
        }
    }

    private Object make(String className) throws Throwable {
        long object = global(ALLOC_OBJECT, findClass(className), 0, 0);
        long system = findClass("java/lang/System");
        long getProperties =
                checked(call(GET_STATIC_METHOD_ID, system, utf("getProperties"), utf("()Ljava/util/Properties;")));
        long properties = global(CALL_STATIC_OBJECT_METHOD_A, system, getProperties, 0);
        long put = checked(call(
                GET_METHOD_ID,
                findClass("java/util/Properties"),
                utf("put"),
                utf("(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;")));
        MemorySegment arguments = arena.allocate(JAVA_LONG, 2);
        arguments.setAtIndex(JAVA_LONG, 0, global(NEW_STRING_UTF, utf(HANDOVER), 0, 0));
        arguments.setAtIndex(JAVA_LONG, 1, object);
        synchronized (JniObjects.class) {
            long unused = call(CALL_OBJECT_METHOD_A, properties, put, arguments.address());
            Object made = System.getProperties().remove(HANDOVER);
            if (made == null) {
                throw new IllegalStateException("Properties.put did not take the object");
            }
            return made;
        }
    }

    private long findClass(String name) throws Throwable {
        return global(FIND_CLASS, utf(name), 0, 0);
    }

    private long utf(String text) {
        return arena.allocateFrom(text).address();
    }

    /** Calls a function and makes its result global: nothing may come between the two calls. */
    private long global(int place, long a, long b, long c) throws Throwable {
        MemorySegment function = functions[place];
        MemorySegment newGlobalRef = functions[NEW_GLOBAL_REF];
        long local = (long) CALL.invokeExact(function, env, a, b, c);
        long global = (long) CALL.invokeExact(newGlobalRef, env, local, 0L, 0L);
        globals[globalCount++] = checked(global);
        return global;
    }

    private long call(int place, long a, long b, long c) throws Throwable {
        return (long) CALL.invokeExact(functions[place], env, a, b, c);
    }

    private long checked(long result) throws Throwable {
        if (result == 0) {
            call(EXCEPTION_CLEAR, 0, 0, 0);
            throw new IllegalStateException("a JNI function gave NULL");
        }
        return result;
    }

    private void deleteGlobals() throws Throwable {
        while (globalCount > 0) {
            call(DELETE_GLOBAL_REF, globals[--globalCount], 0, 0);
        }
    }

    private long env() throws Throwable {
        Path library = Path.of(System.getProperty("java.home"), "lib", "server", "libjvm.so");
        MemorySegment created = SymbolLookup.libraryLookup(library, arena).findOrThrow("JNI_GetCreatedJavaVMs");
        MemorySegment result = arena.allocate(ADDRESS);
        MemorySegment count = arena.allocate(JAVA_INT);
        int status = (int) (long) CALL.invokeExact(created, result.address(), 1L, count.address(), 0L);
        if (status != 0 || count.get(JAVA_INT, 0) != 1) {
            throw new IllegalStateException("JNI_GetCreatedJavaVMs: " + status);
        }
        long vm = result.get(JAVA_LONG, 0);
        long version = JNI_VERSION_1_8;
        status = (int) (long) CALL.invokeExact(function(vm, GET_ENV), vm, result.address(), version, 0L);
        if (status != 0) {
            throw new IllegalStateException("GetEnv: " + status);
        }
        return result.get(JAVA_LONG, 0);
    }

    /** The function at a place in the table that {@code self} points to. */
    private static MemorySegment function(long self, int place) {
        long table = pointerAt(self);
        return MemorySegment.ofAddress(pointerAt(table + place * ADDRESS.byteSize()));
    }

    private static long pointerAt(long address) {
        return MemorySegment.ofAddress(address)
                .reinterpret(JAVA_LONG.byteSize())
                .get(JAVA_LONG, 0);
    }
}
