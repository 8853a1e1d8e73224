package io.verbena.spi;

import io.verbena.rdma.stream.RdmaStream;
import io.verbena.rdma.stream.ReadinessListener;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;

/**
 * Reads and writes of a channel that a stream carries: blocking, with a time-out, or not.
 *
 * <p>Locks: a read holds the channel's {@code readLock}, a write its {@code writeLock}; both may block under it. Close,
 * shutdown and interrupt take neither: they change a flag or the stream, which wakes whoever waits.
 *
 * <p>The first try is made without {@code begin}: it can't block. Only a thread that has to wait, or is interrupted,
 * sets the hook for interrupts.
 */
final class StreamIo implements PollTarget {
    private final RdmaSocketChannel channel;
    final RdmaStream stream;
    private final Traffic traffic;

    private volatile boolean inputClosed;
    private volatile boolean outputClosed;

    StreamIo(RdmaSocketChannel channel, RdmaStream stream, Traffic traffic) {
        this.channel = channel;
        this.stream = stream;
        this.traffic = traffic;
    }

    int read(ByteBuffer dst) throws IOException {
        return (int) read(dst, null, 0, 0, 0);
    }

    long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, dsts.length);
        return read(null, dsts, offset, length, 0);
    }

    /** For {@code Socket}: a blocking read with a time-out in nanoseconds, 0 for none. */
    int read(byte[] b, int off, int len, long timeoutNs) throws IOException {
        return (int) read(ByteBuffer.wrap(b, off, len), null, 0, 0, timeoutNs);
    }

    private long read(ByteBuffer dst, ByteBuffer[] dsts, int offset, int length, long timeoutNs) throws IOException {
        channel.readLock.lock();
        try {
            channel.ensureOpen();
            checkWritable(dst, dsts, offset, length);
            boolean blocking = channel.isBlocking();
            if (!blocking || !Thread.currentThread().isInterrupted()) {
                long n = tryRead(dst, dsts, offset, length);
                if (n != 0 || !blocking || !remains(dst, dsts, offset, length)) {
                    return n;
                }
            }
            return blockingRead(dst, dsts, offset, length, timeoutNs);
        } finally {
            channel.readLock.unlock();
        }
    }

    private long blockingRead(ByteBuffer dst, ByteBuffer[] dsts, int offset, int length, long timeoutNs)
            throws IOException {
        long start = timeoutNs > 0 ? System.nanoTime() : 0;
        long n = 0;
        try {
            channel.beginBlocking();
            channel.ensureOpen();
            while (true) {
                n = tryRead(dst, dsts, offset, length);
                if (n != 0 || !channel.isOpen() || !remains(dst, dsts, offset, length)) {
                    break;
                }
                stream.await(RdmaStream.READABLE, timeoutNs > 0 ? remaining(start, timeoutNs) : 0);
            }
        } finally {
            channel.endBlocking(n > 0);
        }
        return n;
    }

    private static long remaining(long start, long timeoutNs) throws SocketTimeoutException {
        long remainingNs = timeoutNs - (System.nanoTime() - start);
        if (remainingNs <= 0) {
            throw new SocketTimeoutException("Read timed out");
        }
        return remainingNs;
    }

    private long tryRead(ByteBuffer dst, ByteBuffer[] dsts, int offset, int length) throws IOException {
        if (inputClosed) {
            return -1;
        }
        long n;
        try {
            n = dst != null ? stream.read(dst) : stream.read(dsts, offset, length);
        } catch (IOException e) {
            throw asJdk(e);
        }
        if (n <= 0 && inputClosed) {
            return -1;
        }
        traffic.read(n);
        return n;
    }

    /** A reset is a SocketException in the JDK, and programs look for that. */
    private static IOException asJdk(IOException e) {
        boolean reset = e.getClass() == IOException.class && "Connection reset".equals(e.getMessage());
        return reset ? new SocketException("Connection reset", e) : e;
    }

    int write(ByteBuffer src) throws IOException {
        return (int) write(src, null, 0, 0, false);
    }

    long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, srcs.length);
        return write(null, srcs, offset, length, false);
    }

    /** For {@code Socket}: writes all, or throws. */
    void writeFully(byte[] b, int off, int len) throws IOException {
        long unused = write(ByteBuffer.wrap(b, off, len), null, 0, 0, true);
    }

    private long write(ByteBuffer src, ByteBuffer[] srcs, int offset, int length, boolean all) throws IOException {
        channel.writeLock.lock();
        try {
            channel.ensureOpen();
            boolean blocking = channel.isBlocking();
            long n = 0;
            if (!blocking || !Thread.currentThread().isInterrupted()) {
                if (outputClosed) {
                    throw new ClosedChannelException();
                }
                n = tryWrite(src, srcs, offset, length);
                if (!blocking || !remains(src, srcs, offset, length)) {
                    return n;
                }
            }
            return blockingWrite(src, srcs, offset, length, n, all);
        } finally {
            channel.writeLock.unlock();
        }
    }

    /** Writes the rest; an exception after a part of it is written is left to the next write, unless all is due. */
    private long blockingWrite(ByteBuffer src, ByteBuffer[] srcs, int offset, int length, long written, boolean all)
            throws IOException {
        long total = written;
        boolean done = false;
        try {
            channel.beginBlocking();
            channel.ensureOpen();
            while (remains(src, srcs, offset, length) && channel.isOpen()) {
                if (outputClosed) {
                    throw new AsynchronousCloseException();
                }
                long n = tryWrite(src, srcs, offset, length);
                total += n;
                if (n == 0) {
                    stream.await(RdmaStream.WRITABLE, 0);
                }
            }
            done = !remains(src, srcs, offset, length);
        } catch (IOException e) {
            if (all || total == 0) {
                throw e;
            }
        } finally {
            channel.endBlocking(done || !all && total > 0);
        }
        return total;
    }

    private long tryWrite(ByteBuffer src, ByteBuffer[] srcs, int offset, int length) throws IOException {
        long n = src != null ? stream.write(src) : stream.write(srcs, offset, length);
        traffic.wrote(n);
        return n;
    }

    private static boolean remains(ByteBuffer one, ByteBuffer[] many, int offset, int length) {
        if (one != null) {
            return one.hasRemaining();
        }
        for (int i = offset; i < offset + length; i++) {
            if (many[i].hasRemaining()) {
                return true;
            }
        }
        return false;
    }

    private static void checkWritable(ByteBuffer one, ByteBuffer[] many, int offset, int length) {
        if (one != null) {
            checkWritable(one);
            return;
        }
        for (int i = offset; i < offset + length; i++) {
            checkWritable(many[i]);
        }
    }

    private static void checkWritable(ByteBuffer buffer) {
        if (buffer.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
    }

    int available() throws IOException {
        return inputClosed ? 0 : stream.available();
    }

    boolean isInputClosed() {
        return inputClosed;
    }

    boolean isOutputClosed() {
        return outputClosed;
    }

    /** Makes reads give -1, also those under way. */
    void shutdownInput() throws IOException {
        if (!inputClosed) {
            inputClosed = true;
            stream.shutdownInput();
            stream.wakeWaiters();
        }
    }

    /** Sends the end of the stream; a write under way fails. */
    void shutdownOutput() throws IOException {
        if (!outputClosed) {
            outputClosed = true;
            stream.shutdownOutput();
            stream.wakeWaiters();
        }
    }

    void close(boolean reset) {
        stream.close(reset);
        VerbenaStats.streamClosed(traffic);
    }

    // --- PollTarget: the bits of a stream's readiness are those of OP_READ and OP_WRITE

    @Override
    public int ops() {
        return RdmaStream.READABLE | RdmaStream.WRITABLE;
    }

    @Override
    public int fd() {
        // open as long as the caller, who has added a listener, found the stream open
        return stream.isClosed() ? -1 : stream.fd();
    }

    @Override
    public boolean levelTriggered() {
        return false;
    }

    @Override
    public int poll() {
        return stream.poll();
    }

    @Override
    public int arm() {
        return stream.arm();
    }

    @Override
    public void consumeEvent() {
        stream.consumeEvent();
    }

    @Override
    public void addListener(ReadinessListener listener) {
        stream.addListener(listener);
    }

    @Override
    public void removeListener(ReadinessListener listener) {
        stream.removeListener(listener);
    }
}
