package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.RdmaProvider;
import java.io.IOException;
import java.lang.reflect.Field;

/**
 * The one place that reaches into DiSNI: its provider is a private static field with no setter, and the property that
 * its javadoc names is never read.
 */
final class ProviderInstaller {
    private static final String FIELD = "provider";

    private ProviderInstaller() {}

    /** Sets the field the first time it is called; class initialisation makes it idempotent and thread-safe. */
    static void install() {
        if (Holder.PROVIDER == null || !isCurrent()) {
            throw new IllegalStateException("DiSNI's provider was replaced by another one");
        }
    }

    /** Initialised by the first {@link #install}. */
    private static final class Holder {
        static final DispatchingProvider PROVIDER = set(new DispatchingProvider());

        private static DispatchingProvider set(DispatchingProvider provider) {
            try {
                Field field = RdmaProvider.class.getDeclaredField(FIELD);
                field.setAccessible(true);
                field.set(null, provider);
                return provider;
            } catch (ReflectiveOperationException | RuntimeException e) {
                throw new IllegalStateException(
                        "cannot set com.ibm.disni.verbs.RdmaProvider." + FIELD
                                + " (DiSNI 2.1 is expected; as a named module it must be opened to Verbena)",
                        e);
            }
        }
    }

    /** Whether DiSNI hands out our provider. */
    static boolean isCurrent() {
        try {
            return RdmaProvider.provider() instanceof DispatchingProvider;
        } catch (IOException e) {
            return false;
        }
    }
}
