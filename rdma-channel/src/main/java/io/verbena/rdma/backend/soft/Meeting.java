package io.verbena.rdma.backend.soft;

import io.verbena.rdma.backend.soft.UnixSocket.Credentials;
import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * How a client finds the process that owns a TCP port, and makes sure that it is the one.
 *
 * @param status 0, or the negative errno for ADDR_ERROR (see {@link SoftCmEvent})
 * @param fd the connected socket if the status is 0
 * @param peer who is at the other end
 */
record Meeting(int status, int fd, Credentials peer) {
    /** What the kernel shows for a user that this user namespace has no number for. */
    static final int OVERFLOW_UID = 65534;

    private static Meeting failed(int status) {
        return new Meeting(status, -1, null);
    }

    /** 0 if the address is one of this host. */
    static int check(InetSocketAddress destination) {
        return destination.isUnresolved() || destination.getAddress().isMulticastAddress()
                ? -Errno.ENETUNREACH
                : NetAddress.checkLocal(destination.getAddress());
    }

    /** Looks for the listener at an address of this host and connects to it; never waits for it. */
    static Meeting with(InetSocketAddress source, InetSocketAddress destination) {
        int[] error = new int[1];
        SockDiag.Listener owner = SockDiag.lookup(destination, source, error);
        if (owner == null) {
            return failed(error[0] == -Errno.ENOENT ? -Errno.ECONNREFUSED : error[0]);
        }
        int fd = UnixSocket.open();
        if (fd < 0) {
            return failed(fd);
        }
        int status = UnixSocket.connect(fd, SoftListener.name(owner.inode()));
        Credentials peer = null;
        if (status == 0) {
            try {
                peer = UnixSocket.credentials(fd);
                status = isOwner(owner.uid(), peer.uid()) ? 0 : -Errno.EPERM;
            } catch (IOException e) {
                status = -Errno.EPERM;
            }
        }
        if (status != 0) {
            int unused = Linux.close(fd);
            return failed(status);
        }
        return new Meeting(0, fd, peer);
    }

    /** Whether the process at the other end belongs to the user who owns the port. */
    static boolean isOwner(int portUid, int peerUid) {
        return portUid == peerUid && portUid != OVERFLOW_UID;
    }
}
