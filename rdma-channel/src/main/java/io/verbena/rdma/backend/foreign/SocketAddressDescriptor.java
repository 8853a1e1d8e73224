package io.verbena.rdma.backend.foreign;

import static io.verbena.rdma.backend.foreign.VerbsDescriptor.u32;
import static java.lang.foreign.MemoryLayout.paddingLayout;
import static java.lang.foreign.MemoryLayout.sequenceLayout;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteOrder;
import java.util.List;

/** {@code struct sockaddr_in} and {@code sockaddr_in6} (ip(7), ipv6(7)) to and from Java's addresses. */
final class SocketAddressDescriptor {
    /** {@code sizeof(struct sockaddr_storage)}. */
    static final int STORAGE_BYTES = 128;

    private static final ValueLayout.OfShort BE16 = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

    static final Struct IN = Struct.whole(
            "sockaddr_in",
            JAVA_SHORT.withName("sin_family"),
            BE16.withName("sin_port"),
            sequenceLayout(4, JAVA_BYTE).withName("sin_addr"),
            paddingLayout(8));

    static final Struct IN6 = Struct.whole(
            "sockaddr_in6",
            JAVA_SHORT.withName("sin6_family"),
            BE16.withName("sin6_port"),
            u32("sin6_flowinfo"),
            sequenceLayout(16, JAVA_BYTE).withName("sin6_addr"),
            u32("sin6_scope_id"));

    static final List<Struct> ALL = List.of(IN, IN6);

    private static final long PORT = IN.offset("sin_port");
    private static final long ADDR4 = IN.offset("sin_addr");
    private static final long ADDR6 = IN6.offset("sin6_addr");
    private static final long SCOPE = IN6.offset("sin6_scope_id");

    private SocketAddressDescriptor() {}

    /**
     * Encodes an address.
     *
     * @param address may be null
     * @return the struct, or NULL for null
     * @throws IOException if it is not a resolved IP address
     */
    static MemorySegment encode(SocketAddress address, Arena arena) throws IOException {
        if (address == null) {
            return MemorySegment.NULL;
        }
        if (!(address instanceof InetSocketAddress inet) || inet.isUnresolved()) {
            throw new IOException("not a resolved IP address: " + address);
        }
        MemorySegment struct = arena.allocate(STORAGE_BYTES, Long.BYTES);
        struct.set(BE16, PORT, (short) inet.getPort());
        byte[] bytes = inet.getAddress().getAddress();
        if (inet.getAddress() instanceof Inet6Address six) {
            struct.set(JAVA_SHORT, 0, (short) Linux.AF_INET6);
            MemorySegment.copy(bytes, 0, struct, JAVA_BYTE, ADDR6, bytes.length);
            struct.set(JAVA_INT, SCOPE, six.getScopeId());
        } else {
            struct.set(JAVA_SHORT, 0, (short) Linux.AF_INET);
            MemorySegment.copy(bytes, 0, struct, JAVA_BYTE, ADDR4, bytes.length);
        }
        return struct;
    }

    /**
     * Decodes an address.
     *
     * @param struct {@link #STORAGE_BYTES} bytes
     * @return the address, null if the family is none or unknown
     */
    static InetSocketAddress decode(MemorySegment struct) throws IOException {
        int port = Short.toUnsignedInt(struct.get(BE16, PORT));
        return switch (struct.get(JAVA_SHORT, 0)) {
            case Linux.AF_INET -> new InetSocketAddress(InetAddress.getByAddress(bytes(struct, ADDR4, 4)), port);
            case Linux.AF_INET6 -> {
                int scope = struct.get(JAVA_INT, SCOPE);
                // A negative scope means: none. An address without one must equal Java's own.
                yield new InetSocketAddress(
                        Inet6Address.getByAddress(null, bytes(struct, ADDR6, 16), scope == 0 ? -1 : scope), port);
            }
            default -> null;
        };
    }

    private static byte[] bytes(MemorySegment struct, long offset, int count) {
        return struct.asSlice(offset, count).toArray(JAVA_BYTE);
    }
}
