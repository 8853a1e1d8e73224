package io.verbena.rdma.backend.soft;

import io.verbena.rdma.sys.Epoll;
import io.verbena.rdma.sys.EventFd;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A completion channel for any number of completion queues: an epoll set of an eventfd for completions made in this
 * process and the sockets of the connections. Thread-safe.
 */
final class SharedCompChannel extends SoftCompChannel {
    private final Epoll epoll;
    private final EventFd local;
    private final Map<Integer, Connection> connections = new ConcurrentHashMap<>();

    private SharedCompChannel(Epoll epoll, EventFd local, SoftContext context) throws IOException {
        super(epoll.fd(), context);
        this.epoll = epoll;
        this.local = local;
    }

    static SharedCompChannel create(SoftContext context) throws IOException {
        Epoll epoll = new Epoll();
        try {
            EventFd local = new EventFd();
            epoll.add(local.fd(), Linux.EPOLLIN);
            return new SharedCompChannel(epoll, local, context);
        } catch (IOException e) {
            epoll.close();
            throw e;
        }
    }

    @Override
    void attach(Connection connection) throws IOException {
        int fd = connection.fd();
        if (connections.putIfAbsent(fd, connection) == null) {
            epoll.add(fd, Linux.EPOLLIN);
        }
    }

    @Override
    void detach(Connection connection) {
        int fd = connection.fd();
        if (fd >= 0 && connections.remove(fd, connection)) {
            epoll.remove(fd);
        }
    }

    @Override
    void fire() {
        local.signal();
    }

    @Override
    synchronized boolean takeEvent(SoftCq cq) throws IOException {
        int n = epoll.await(0);
        boolean taken = false;
        for (int i = 0; i < n; i++) {
            int fd = epoll.fd(i);
            Connection connection = connections.get(fd);
            if (fd == local.fd()) {
                local.drain();
                taken = true;
            } else if (connection != null) {
                taken |= take(fd, connection, cq);
            }
        }
        return taken;
    }

    private boolean take(int fd, Connection connection, SoftCq cq) {
        int wakes = consume(connection, cq);
        if (wakes < 0) {
            // The end of a socket stays readable for ever: it counts once.
            epoll.remove(fd);
        }
        return wakes != 0;
    }

    @Override
    public int destroyCompChannel() {
        if (isOpen) {
            isOpen = false;
            local.close();
            epoll.close();
        }
        return 0;
    }
}
