package io.verbena.rdma.verbs;

import java.util.ServiceLoader;

/**
 * Where verbs backends are found and how they become DiSNI's provider.
 *
 * <p>Backends are services ({@code META-INF/services/io.verbena.rdma.verbs.VerbsBackend}), so this package knows none
 * of them. Thread-safe.
 */
public final class Verbs {
    /** System property: the backend that {@code RdmaEventChannel.createEventChannel()} uses. */
    public static final String BACKEND_PROPERTY = "io.verbena.verbs";

    private static final String DEFAULT_BACKEND = "soft";

    private Verbs() {}

    /**
     * Makes Verbena DiSNI's provider. Must have happened before the first object of a DiSNI class exists; every backend
     * calls it. Idempotent.
     *
     * @throws IllegalStateException if DiSNI's class does not allow it; the message says what to do
     */
    public static void install() {
        ProviderInstaller.install();
    }

    /**
     * The backend that the property {@value #BACKEND_PROPERTY} names, by default {@code soft}.
     *
     * @throws IllegalArgumentException if there is no such backend
     */
    public static VerbsBackend backend() {
        return backend(System.getProperty(BACKEND_PROPERTY, DEFAULT_BACKEND));
    }

    /**
     * The backend with a name.
     *
     * @param name for example {@code "soft"}
     * @throws IllegalArgumentException if there is no such backend; the message lists those that there are
     */
    public static VerbsBackend backend(String name) {
        StringBuilder known = new StringBuilder();
        for (VerbsBackend backend : ServiceLoader.load(VerbsBackend.class, Verbs.class.getClassLoader())) {
            if (backend.name().equals(name)) {
                return backend;
            }
            known.append(' ').append(backend.name());
        }
        throw new IllegalArgumentException(
                "no verbs backend named '" + name + "' (" + BACKEND_PROPERTY + "); there are:" + known);
    }
}
