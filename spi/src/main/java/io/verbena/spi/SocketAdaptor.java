package io.verbena.spi;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** A socket channel as a {@code java.net.Socket}: what {@code SocketChannel.socket()} gives. Thread-safe. */
final class SocketAdaptor extends Socket {
    private final RdmaSocketChannel channel;
    private volatile int timeoutMs;

    private SocketAdaptor(RdmaSocketChannel channel) throws SocketException {
        super(new NoSocketImpl());
        this.channel = channel;
    }

    static Socket create(RdmaSocketChannel channel) {
        try {
            return new SocketAdaptor(channel);
        } catch (SocketException e) {
            throw new AssertionError(e);
        }
    }

    private void ensureOpen() throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
    }

    @Override
    public void connect(SocketAddress remote) throws IOException {
        connect(remote, 0);
    }

    @Override
    public void connect(SocketAddress remote, int timeout) throws IOException {
        if (remote == null) {
            throw new IllegalArgumentException("connect: The address can't be null");
        }
        if (remote instanceof InetSocketAddress isa && isa.isUnresolved()) {
            refuseUnresolved(isa);
        }
        if (timeout < 0) {
            throw new IllegalArgumentException("connect: timeout can't be negative");
        }
        try {
            if (!channel.isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            boolean unused = channel.connect(remote, TimeUnit.MILLISECONDS.toNanos(timeout));
        } catch (RuntimeException e) {
            throw JdkExceptions.forSocket(e);
        }
    }

    private void refuseUnresolved(InetSocketAddress remote) throws IOException {
        ensureOpen();
        if (channel.isConnected()) {
            throw new SocketException("Already connected");
        }
        close();
        throw new UnknownHostException(remote.getHostString());
    }

    @Override
    public void bind(SocketAddress local) throws IOException {
        try {
            channel.bind(local);
        } catch (RuntimeException e) {
            throw JdkExceptions.forSocket(e);
        }
    }

    @Override
    public InetAddress getInetAddress() {
        InetSocketAddress remote = channel.remoteAddress();
        return remote == null ? null : remote.getAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        InetSocketAddress local = channel.isOpen() ? channel.localAddress() : null;
        return local == null ? new InetSocketAddress(0).getAddress() : local.getAddress();
    }

    @Override
    public int getPort() {
        InetSocketAddress remote = channel.remoteAddress();
        return remote == null ? 0 : remote.getPort();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = channel.localAddress();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        return channel.remoteAddress();
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return channel.localAddress();
    }

    @Override
    public SocketChannel getChannel() {
        return channel;
    }

    @Override
    public InputStream getInputStream() throws IOException {
        ensureOpen();
        if (!channel.isConnected()) {
            throw new SocketException("Socket is not connected");
        }
        if (!channel.isInputOpen()) {
            throw new SocketException("Socket input is shutdown");
        }
        return ChannelStreams.in(channel, () -> timeoutMs);
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        ensureOpen();
        if (!channel.isConnected()) {
            throw new SocketException("Socket is not connected");
        }
        if (!channel.isOutputOpen()) {
            throw new SocketException("Socket output is shutdown");
        }
        return ChannelStreams.out(channel);
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        if (!channel.isConnected()) {
            channel.ensureOpen();
            throw new NotYetConnectedException();
        }
        if (channel.stream() != null) {
            throw new SocketException("Urgent data not supported");
        }
        channel.twin().socket().sendUrgentData(data);
    }

    @Override
    public void setSoTimeout(int timeout) throws SocketException {
        ensureOpen();
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeoutMs = timeout;
    }

    @Override
    public int getSoTimeout() throws SocketException {
        ensureOpen();
        return timeoutMs;
    }

    // --- options

    private <T> void set(SocketOption<T> name, T value) throws SocketException {
        try {
            channel.setOption(name, value);
        } catch (IOException e) {
            throw JdkExceptions.forOption(e);
        }
    }

    private <T> T get(SocketOption<T> name) throws SocketException {
        try {
            return channel.getOption(name);
        } catch (IOException e) {
            throw JdkExceptions.forOption(e);
        }
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        set(StandardSocketOptions.TCP_NODELAY, on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return get(StandardSocketOptions.TCP_NODELAY);
    }

    @Override
    public void setSoLinger(boolean on, int linger) throws SocketException {
        set(StandardSocketOptions.SO_LINGER, on ? linger : -1);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return get(StandardSocketOptions.SO_LINGER);
    }

    @Override
    public void setOOBInline(boolean on) throws SocketException {
        set(oobInline(), on);
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        return get(oobInline());
    }

    /** The JDK's option object is not public, but {@code supportedOptions} shows it. */
    @SuppressWarnings("unchecked")
    private SocketOption<Boolean> oobInline() {
        for (SocketOption<?> option : channel.supportedOptions()) {
            if (option.name().equals("SO_OOBINLINE") && option.type() == Boolean.class) {
                return (SocketOption<Boolean>) option;
            }
        }
        throw new UnsupportedOperationException("'SO_OOBINLINE' not supported");
    }

    @Override
    public void setSendBufferSize(int size) throws SocketException {
        if (size <= 0) {
            throw new IllegalArgumentException("Invalid send size");
        }
        set(StandardSocketOptions.SO_SNDBUF, size);
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return get(StandardSocketOptions.SO_SNDBUF);
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        if (size <= 0) {
            throw new IllegalArgumentException("Invalid receive size");
        }
        set(StandardSocketOptions.SO_RCVBUF, size);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return get(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        set(StandardSocketOptions.SO_KEEPALIVE, on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return get(StandardSocketOptions.SO_KEEPALIVE);
    }

    @Override
    public void setTrafficClass(int tc) throws SocketException {
        set(StandardSocketOptions.IP_TOS, tc);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return get(StandardSocketOptions.IP_TOS);
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        set(StandardSocketOptions.SO_REUSEADDR, on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return get(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public <T> Socket setOption(SocketOption<T> name, T value) throws IOException {
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    @Override
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // as in the JDK: no effect
    }

    // --- state

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public void shutdownInput() throws IOException {
        try {
            channel.shutdownInput();
        } catch (RuntimeException e) {
            throw JdkExceptions.forSocket(e);
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        try {
            channel.shutdownOutput();
        } catch (RuntimeException e) {
            throw JdkExceptions.forSocket(e);
        }
    }

    @Override
    public boolean isConnected() {
        return channel.isConnected();
    }

    @Override
    public boolean isBound() {
        return channel.localAddress() != null;
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public boolean isInputShutdown() {
        return !channel.isInputOpen();
    }

    @Override
    public boolean isOutputShutdown() {
        return !channel.isOutputOpen();
    }

    @Override
    public String toString() {
        if (channel.isConnected()) {
            return "Socket[addr=" + getInetAddress() + ",port=" + getPort() + ",localport=" + getLocalPort() + "]";
        }
        return "Socket[unconnected]";
    }
}
