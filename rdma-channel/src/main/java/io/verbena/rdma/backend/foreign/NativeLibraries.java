package io.verbena.rdma.backend.foreign;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;

/** Where librdmacm and libibverbs are found: by their soname, as the dynamic loader finds them. */
final class NativeLibraries {
    static final String RDMACM = "librdmacm.so.1";
    static final String IBVERBS = "libibverbs.so.1";

    private NativeLibraries() {}

    /**
     * Checks that both libraries load and have every symbol that is used.
     *
     * @throws IOException naming the library and the package that brings it
     */
    static void require() throws IOException {
        open(IBVERBS, "libibverbs1");
        open(RDMACM, "librdmacm1");
        try {
            VerbsCalls.load();
            RdmaCmCalls.load();
        } catch (UnsatisfiedLinkError | ExceptionInInitializerError | NoClassDefFoundError e) {
            throw new IOException("rdma-core is too old or incomplete: " + message(e), e);
        }
    }

    private static String message(Throwable e) {
        return e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
    }

    private static void open(String name, String debianPackage) throws IOException {
        try {
            lookup(name);
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    name + " not found: install " + debianPackage + " and ibverbs-providers (or rdma-core)", e);
        }
    }

    /** Loads a library for good. */
    static SymbolLookup lookup(String name) {
        return SymbolLookup.libraryLookup(name, Arena.global());
    }
}
