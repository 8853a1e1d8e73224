package io.verbena.spi;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketImpl;

/** Stands where {@code java.net} wants a SocketImpl; the adaptors override every method that would come here. */
final class NoSocketImpl extends SocketImpl {
    private static AssertionError notOverridden() {
        return new AssertionError("a method of the socket adaptor is not overridden");
    }

    @Override
    protected void create(boolean stream) {
        throw notOverridden();
    }

    @Override
    protected void connect(String host, int port) {
        throw notOverridden();
    }

    @Override
    protected void connect(InetAddress address, int port) {
        throw notOverridden();
    }

    @Override
    protected void connect(SocketAddress address, int timeout) {
        throw notOverridden();
    }

    @Override
    protected void bind(InetAddress host, int port) {
        throw notOverridden();
    }

    @Override
    protected void listen(int backlog) {
        throw notOverridden();
    }

    @Override
    protected void accept(SocketImpl s) {
        throw notOverridden();
    }

    @Override
    protected InputStream getInputStream() {
        throw notOverridden();
    }

    @Override
    protected OutputStream getOutputStream() {
        throw notOverridden();
    }

    @Override
    protected int available() {
        throw notOverridden();
    }

    @Override
    protected void close() {
        // nothing is open
    }

    @Override
    protected void sendUrgentData(int data) {
        throw notOverridden();
    }

    @Override
    public void setOption(int optId, Object value) {
        throw notOverridden();
    }

    @Override
    public Object getOption(int optId) {
        throw notOverridden();
    }
}
