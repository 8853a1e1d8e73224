package io.verbena.spi;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Objects;

/** Checks of socket addresses, with the exceptions that the javadoc of the channels names. */
final class Addresses {
    private static final InetAddress LOOPBACK4 = address(new byte[] {127, 0, 0, 1});
    private static final InetAddress LOOPBACK6 = address(loopback6());

    private Addresses() {}

    private static byte[] loopback6() {
        byte[] bytes = new byte[16];
        bytes[15] = 1;
        return bytes;
    }

    private static InetAddress address(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * The address to connect to; the wildcard address stands for the loopback address, as in the JDK.
     *
     * @param family the channel's, null for the default
     * @throws UnsupportedAddressTypeException if it is not an Internet address, or not one of the family
     * @throws UnresolvedAddressException if it is not resolved
     */
    static InetSocketAddress checkRemote(SocketAddress remote, ProtocolFamily family) {
        Objects.requireNonNull(remote);
        if (!(remote instanceof InetSocketAddress isa)) {
            throw new UnsupportedAddressTypeException();
        }
        if (isa.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        InetAddress address = isa.getAddress();
        if (family == StandardProtocolFamily.INET && !(address instanceof Inet4Address)) {
            throw new UnsupportedAddressTypeException();
        }
        if (!address.isAnyLocalAddress()) {
            return isa;
        }
        return new InetSocketAddress(address instanceof Inet4Address ? LOOPBACK4 : LOOPBACK6, isa.getPort());
    }

    /** What TCP would show as the local address of a connection to {@code remote}, an address of this host. */
    static InetSocketAddress localFor(InetSocketAddress bound, InetSocketAddress remote) {
        return bound.getAddress().isAnyLocalAddress()
                ? new InetSocketAddress(remote.getAddress(), bound.getPort())
                : bound;
    }
}
