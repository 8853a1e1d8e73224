package io.verbena.spi;

import java.lang.reflect.Constructor;
import java.nio.channels.spi.SelectorProvider;

/**
 * Finds the JDK's own provider, also while the system property names ours: {@code SelectorProvider.provider()} then
 * gives Verbena, and {@code sun.nio.ch} exports nothing.
 *
 * <p>The JDK's provider class has no state, so an instance made without running its constructor serves
 * ({@code sun.reflect.ReflectionFactory}, module {@code jdk.unsupported}, looked up by name so that this class loads
 * without it). Where that module is missing the instance is made by the JNI functions of the JVM itself.
 */
final class JdkProvider {
    private static final String NAME = "sun.nio.ch.EPollSelectorProvider";

    private static final class Holder {
        static final SelectorProvider INSTANCE = find();
    }

    private JdkProvider() {}

    /**
     * The JDK's provider; the same object each time.
     *
     * @throws IllegalStateException if no way leads to it; the message says what to do
     */
    static SelectorProvider get() {
        return Holder.INSTANCE;
    }

    private static SelectorProvider find() {
        RuntimeException failure = new IllegalStateException("no access to the JDK's own SelectorProvider (" + NAME
                + "): add the module jdk.unsupported to the run-time image (--add-modules jdk.unsupported)");
        try {
            return byReflectionFactory();
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            failure.addSuppressed(e);
        }
        try {
            return byJni();
        } catch (IllegalStateException e) {
            failure.addSuppressed(e);
        }
        throw failure;
    }

    /** Allocated by the JVM itself. */
    static SelectorProvider byJni() {
        return (SelectorProvider) JniObjects.allocate(NAME.replace('.', '/'));
    }

    /** {@code ReflectionFactory.getReflectionFactory().newConstructorForSerialization(type, Object())}. */
    static SelectorProvider byReflectionFactory() throws ReflectiveOperationException {
        Class<?> factoryType = Class.forName("sun.reflect.ReflectionFactory");
        Object factory = factoryType.getMethod("getReflectionFactory").invoke(null);
        Constructor<?> constructor = (Constructor<?>) factoryType
                .getMethod("newConstructorForSerialization", Class.class, Constructor.class)
                .invoke(factory, Class.forName(NAME), Object.class.getDeclaredConstructor());
        return (SelectorProvider) constructor.newInstance();
    }
}
