package io.verbena.rdma.backend.soft;

import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * A listening id's Unix socket beside a TCP listener of this process, and the connections that have not yet sent their
 * request.
 *
 * <p>Guarded by its id's lock.
 */
final class SoftListener implements SoftEventChannel.Source {
    /** Connections that may be without a request; beyond, the oldest is dropped (an honest client is quicker). */
    private static final int MAX_SILENT = 1024;

    private static final long RETRY_NS = 1_000_000;

    private final SoftCmId id;
    private final SoftEventChannel channel;
    private final int fd;
    private final int backlog;
    private final ArrayDeque<Incoming> silent = new ArrayDeque<>();
    private final Object flowLock = new Object();
    /** Requests not yet accepted or rejected; with closed guarded by flowLock. */
    private int pending;

    private boolean closed;

    private SoftListener(SoftCmId id, SoftEventChannel channel, int fd, int backlog) {
        this.id = id;
        this.backlog = backlog;
        this.channel = channel;
        this.fd = fd;
    }

    /** The abstract name of the socket beside a TCP listener. */
    static String name(long inode) {
        return "verbena/" + inode;
    }

    /**
     * Listens beside the TCP listener of this process at an address.
     *
     * @throws IOException if there is no such TCP listener, or its name is taken
     */
    static SoftListener open(SoftCmId id, SoftEventChannel channel, InetSocketAddress address, int backlog)
            throws IOException {
        int fd = Errno.check(UnixSocket.open(), "socket(AF_UNIX)");
        try {
            bind(fd, address, backlog);
            SoftListener listener = new SoftListener(id, channel, fd, backlog);
            channel.register(fd, Linux.EPOLLIN, listener);
            return listener;
        } catch (IOException e) {
            int unused = Linux.close(fd);
            throw e;
        }
    }

    private static void bind(int fd, InetSocketAddress address, int backlog) throws IOException {
        List<SockDiag.Listener> candidates = SockDiag.listeners(address.getPort()).stream()
                .filter(l -> sameAddress(l.address().getAddress(), address.getAddress()))
                .toList();
        Set<String> mine = ownSockets(candidates);
        int result = -Errno.ENOENT;
        // With SO_REUSEPORT this process may have several: the first whose name is free.
        for (SockDiag.Listener candidate : candidates) {
            if (mine.contains(link(candidate.inode()))) {
                result = UnixSocket.listen(fd, name(candidate.inode()), backlog);
                if (result != -Errno.EADDRINUSE) {
                    break;
                }
            }
        }
        if (result == -Errno.ENOENT) {
            throw new IOException("rdma_listen failed: EADDRNOTAVAIL (this process has no TCP listener at " + address
                    + "; bind and listen it first)");
        }
        if (result == -Errno.EADDRINUSE) {
            throw new IOException("rdma_listen failed: EADDRINUSE (there is a listener beside the TCP listener at "
                    + address + " already)");
        }
        int unused = Errno.check(result, "listen(AF_UNIX)");
    }

    private static boolean sameAddress(InetAddress a, InetAddress b) {
        return a.equals(b) || (a.isAnyLocalAddress() && b.isAnyLocalAddress());
    }

    private static String link(long inode) {
        return "socket:[" + inode + "]";
    }

    /** Which of the candidates are open in this process. */
    private static Set<String> ownSockets(List<SockDiag.Listener> candidates) throws IOException {
        Set<String> found = new HashSet<>();
        try (DirectoryStream<Path> fds = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path path : fds) {
                String link = readLink(path);
                if (candidates.stream().anyMatch(c -> link(c.inode()).equals(link))
                        && found.add(link)
                        && found.size() == candidates.size()) {
                    break;
                }
            }
        }
        return found;
    }

    private static String readLink(Path path) {
        try {
            return Files.readSymbolicLink(path).toString();
        } catch (IOException e) {
            return "";
        }
    }

    @Override
    public void ready(int events) {
        synchronized (id) {
            int accepted = UnixSocket.accept(fd);
            if (accepted >= 0) {
                admit(accepted);
            } else if (accepted != -Errno.EAGAIN) {
                // No descriptor is free, the connection stays in the backlog: don't spin on it.
                LockSupport.parkNanos(RETRY_NS);
            }
        }
    }

    /** One more request waits for the program; when the backlog is full, more of them wait in the kernel's. */
    void requestCame() {
        synchronized (flowLock) {
            if (++pending == backlog) {
                setMask(0);
            }
        }
    }

    /** One request less waits. */
    void requestAnswered() {
        synchronized (flowLock) {
            if (pending-- == backlog) {
                setMask(Linux.EPOLLIN);
            }
        }
    }

    private void setMask(int mask) {
        if (!closed) {
            try {
                channel.setMask(fd, mask);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private void admit(int accepted) {
        if (silent.size() >= MAX_SILENT) {
            silent.peek().close();
        }
        Incoming incoming = new Incoming(accepted);
        try {
            channel.register(accepted, Linux.EPOLLIN | Linux.EPOLLRDHUP, incoming);
            boolean added = silent.add(incoming);
            assert added;
        } catch (IOException e) {
            int unused = Linux.close(accepted);
        }
    }

    /** A connection that waits for its request. */
    private final class Incoming implements SoftEventChannel.Source {
        private final int socket;

        Incoming(int socket) {
            this.socket = socket;
        }

        @Override
        public void ready(int events) {
            synchronized (id) {
                if (!silent.contains(this)) {
                    return;
                }
                try {
                    read();
                } catch (IOException e) {
                    SoftCmId.refuse(socket, e instanceof CmException c ? c.status : -Errno.EPROTO);
                    close();
                }
            }
        }

        private void read() throws IOException {
            UnixSocket.Received received =
                    UnixSocket.receive(socket, HandshakeDescriptor.MAX_BYTES, HandshakeDescriptor.MAX_SEGMENTS);
            if (received == null) {
                return;
            }
            if (received.isEnd()) {
                UnixSocket.closeAll(received.fds());
                close();
                return;
            }
            boolean removed = silent.remove(this);
            assert removed;
            channel.unregister(socket, this);
            id.request(socket, received);
        }

        void close() {
            silent.remove(this);
            channel.unregister(socket, this);
            int unused = Linux.close(socket);
        }
    }

    /** Stops listening. */
    void close() {
        synchronized (flowLock) {
            closed = true;
            channel.unregister(fd, this);
            int unused = Linux.close(fd);
        }
        while (!silent.isEmpty()) {
            silent.peek().close();
        }
    }
}
