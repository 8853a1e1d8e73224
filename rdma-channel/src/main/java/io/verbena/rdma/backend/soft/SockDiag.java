package io.verbena.rdma.backend.soft;

import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.Linux;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Who listens on a TCP address of this network namespace (sock_diag(7)); unprivileged, some 10 us. Stateless. */
final class SockDiag {
    private static final int SOCK_DIAG_BY_FAMILY = 20;
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_LISTEN = 10;
    /** {@code struct inet_diag_msg}: the offsets of what is used. */
    private static final int STATE = 1;

    private static final int SOURCE_PORT = 4;
    private static final int SOURCE = 8;
    private static final int UID = 64;
    private static final int INODE = 68;
    private static final int MESSAGE_BYTES = 72;

    private SockDiag() {}

    /**
     * A listening TCP socket.
     *
     * @param address where it is bound
     * @param uid its owner
     * @param inode what names it in /proc/PID/fd
     */
    record Listener(InetSocketAddress address, int uid, long inode) {}

    /**
     * The listener that the kernel would give a connection to (one exact lookup, so wildcard, dual-stack and
     * SO_REUSEPORT listeners are found as TCP finds them).
     *
     * @param local the listener's side, an address of this host
     * @param remote the connecting side; chooses among SO_REUSEPORT listeners
     * @param error gets the negative errno if null is returned
     */
    static Listener lookup(InetSocketAddress local, InetSocketAddress remote, int[] error) {
        Listener[] found = new Listener[1];
        ByteBuffer request = Netlink.request(SOCK_DIAG_BY_FAMILY, 0);
        head(request, family(local.getAddress()), -1);
        request.order(ByteOrder.BIG_ENDIAN).putShort((short) local.getPort()).putShort((short)
                (remote == null ? 0 : remote.getPort()));
        put(request, local.getAddress());
        put(
                request,
                remote == null || family(remote.getAddress()) != family(local.getAddress())
                        ? null
                        : remote.getAddress());
        tail(request, NetAddress.scope(local.getAddress()));
        error[0] = Netlink.ask(Netlink.NETLINK_SOCK_DIAG, request, message -> {
            found[0] = parse(message);
            return false;
        });
        if (found[0] == null && error[0] == 0) {
            error[0] = -Errno.ENOENT;
        }
        return found[0];
    }

    /** All listeners on a port, whatever their address; a dump, so dearer than {@link #lookup}. */
    static List<Listener> listeners(int port) {
        List<Listener> all = new ArrayList<>();
        for (int family : new int[] {Linux.AF_INET, Linux.AF_INET6}) {
            ByteBuffer request = Netlink.request(SOCK_DIAG_BY_FAMILY, Netlink.NLM_F_DUMP);
            head(request, family, 1 << TCP_LISTEN);
            request.order(ByteOrder.BIG_ENDIAN).putShort((short) port).putShort((short) 0);
            put(request, null);
            put(request, null);
            tail(request, 0);
            int unused = Netlink.ask(Netlink.NETLINK_SOCK_DIAG, request, message -> {
                Listener listener = parse(message);
                if (listener != null && listener.address().getPort() == port) {
                    all.add(listener);
                }
                return true;
            });
        }
        return all;
    }

    /** The first eight bytes of {@code struct inet_diag_req_v2}. */
    private static void head(ByteBuffer request, int family, int states) {
        request.put((byte) family).put((byte) IPPROTO_TCP).putShort((short) 0).putInt(states);
    }

    private static void tail(ByteBuffer request, int interfaceIndex) {
        request.order(ByteOrder.nativeOrder()).putInt(interfaceIndex).putInt(-1).putInt(-1);
    }

    private static void put(ByteBuffer request, InetAddress address) {
        int at = request.position();
        request.put(address == null ? new byte[16] : address.getAddress()).position(at + 16);
    }

    private static int family(InetAddress address) {
        return address.getAddress().length == 4 ? Linux.AF_INET : Linux.AF_INET6;
    }

    private static Listener parse(ByteBuffer message) {
        if (message.remaining() < MESSAGE_BYTES || message.get(STATE) != TCP_LISTEN) {
            return null;
        }
        byte[] address = new byte[message.get(0) == Linux.AF_INET ? 4 : 16];
        message.get(SOURCE, address);
        int port = Short.toUnsignedInt(
                message.duplicate().order(ByteOrder.BIG_ENDIAN).getShort(SOURCE_PORT));
        try {
            return new Listener(
                    new InetSocketAddress(InetAddress.getByAddress(address), port),
                    message.getInt(UID),
                    Integer.toUnsignedLong(message.getInt(INODE)));
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }
}
