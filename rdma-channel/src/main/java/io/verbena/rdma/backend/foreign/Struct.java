package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/**
 * A C struct, or its first members, as the headers of rdma-core declare it: {@code layout} carries the struct's name,
 * and each member the C expression that {@code offsetof} takes, so that a test can hold all of it against the headers.
 *
 * @param layout the members
 * @param whole whether these are all members, so that {@code sizeof} is the layout's size
 */
record Struct(StructLayout layout, boolean whole) {
    /** A struct with all its members. */
    static Struct whole(String name, MemoryLayout... members) {
        return new Struct(MemoryLayout.structLayout(members).withName(name), true);
    }

    /** The first members of a struct that C code allocates. */
    static Struct prefix(String name, MemoryLayout... members) {
        return new Struct(MemoryLayout.structLayout(members).withName(name), false);
    }

    String name() {
        return layout.name().orElseThrow();
    }

    long bytes() {
        return layout.byteSize();
    }

    long offset(String member) {
        return layout.byteOffset(PathElement.groupElement(member));
    }

    /** The struct at an address that C code returned, alive as long as C says. */
    MemorySegment at(long address) {
        return MemorySegment.ofAddress(address).reinterpret(bytes());
    }

    /** A pointer member. */
    static long pointer(MemorySegment struct, long offset) {
        return struct.get(JAVA_LONG, offset);
    }
}
