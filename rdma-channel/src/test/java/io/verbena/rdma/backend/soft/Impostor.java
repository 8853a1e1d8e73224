package io.verbena.rdma.backend.soft;

import java.io.IOException;

/** A program of another user that waits under the name of somebody's TCP listener. Argument: the inode. */
final class Impostor {
    private Impostor() {}

    public static void main(String[] args) throws IOException {
        int fd = UnixSocket.open();
        int result = UnixSocket.listen(fd, SoftListener.name(Long.parseLong(args[0])), 5);
        System.out.println(result == 0 ? "listening" : "errno " + -result);
        int unused = System.in.read();
    }
}
