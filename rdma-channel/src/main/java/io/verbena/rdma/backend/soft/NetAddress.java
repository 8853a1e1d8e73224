package io.verbena.rdma.backend.soft;

import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.Linux;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/** IP addresses: whether one is local, and how one travels in a handshake message. Stateless. */
final class NetAddress {
    /** Bytes of an address in a message: length of the IP address, port, scope, 16 bytes of address. */
    static final int BYTES = 24;

    private static final int RTM_GETROUTE = 26;
    private static final int RTN_LOCAL = 2;
    private static final int ROUTE_TYPE = 7;
    private static final int RTMSG_BYTES = 12;
    private static final short RTA_DST = 1;
    private static final short RTA_OIF = 4;

    private NetAddress() {}

    /**
     * Whether the kernel's routing delivers an address to this host (rtnetlink(7)); unlike a bind(2) that succeeds,
     * this does not depend on ip_nonlocal_bind.
     *
     * @return 0 if local, -ENETUNREACH if not, another negative errno if the kernel can't be asked
     */
    static int checkLocal(InetAddress address) {
        if (address.isLoopbackAddress()) {
            return 0;
        }
        boolean[] local = new boolean[1];
        int result = Netlink.ask(Netlink.NETLINK_ROUTE, routeRequest(address), message -> {
            local[0] = message.remaining() >= RTMSG_BYTES && message.get(ROUTE_TYPE) == RTN_LOCAL;
            return false;
        });
        return result == 0 && !local[0] ? -Errno.ENETUNREACH : result;
    }

    private static ByteBuffer routeRequest(InetAddress address) {
        byte[] bytes = address.getAddress();
        ByteBuffer request = Netlink.request(RTM_GETROUTE, 0);
        request.put((byte) (bytes.length == 4 ? Linux.AF_INET : Linux.AF_INET6)).put((byte) (bytes.length * 8));
        request.putShort((short) 0).putInt(0).putInt(0);
        request.putShort((short) (4 + bytes.length)).putShort(RTA_DST).put(bytes);
        int scope = scope(address);
        if (scope != 0) {
            request.putShort((short) 8).putShort(RTA_OIF).putInt(scope);
        }
        return request;
    }

    /** The interface index of a scoped IPv6 address, else 0. */
    static int scope(InetAddress address) {
        return address instanceof Inet6Address v6 ? v6.getScopeId() : 0;
    }

    /** Writes an address at the buffer's position; null is written as "none". */
    static void put(ByteBuffer buffer, InetSocketAddress address) {
        int at = buffer.position();
        if (address != null) {
            byte[] bytes = address.getAddress().getAddress();
            buffer.put((byte) bytes.length).put((byte) 0).putShort((short) address.getPort());
            buffer.putInt(scope(address.getAddress())).put(bytes);
        }
        buffer.position(at + BYTES);
    }

    /** Reads an address at the buffer's position; null if there is none or it is malformed. */
    static InetSocketAddress get(ByteBuffer buffer) {
        int at = buffer.position();
        int length = buffer.get(at);
        int port = Short.toUnsignedInt(buffer.getShort(at + 2));
        int scope = buffer.getInt(at + 4);
        buffer.position(at + BYTES);
        if (length != 4 && length != 16) {
            return null;
        }
        byte[] bytes = new byte[length];
        buffer.get(at + 8, bytes);
        try {
            return new InetSocketAddress(withScope(bytes, scope), port);
        } catch (UnknownHostException e) {
            return null;
        }
    }

    private static InetAddress withScope(byte[] bytes, int scope) throws UnknownHostException {
        return bytes.length == 16 && scope > 0
                ? Inet6Address.getByAddress(null, bytes, scope)
                : InetAddress.getByAddress(bytes);
    }
}
