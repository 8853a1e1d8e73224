package io.verbena.spi;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.util.Objects;
import java.util.function.IntSupplier;

/**
 * The streams of a socket adaptor: blocking reads with a time-out, and writes of everything. Those of a TCP channel
 * lead to the JDK's streams of the twin. Closing one closes the channel.
 */
final class ChannelStreams {
    private ChannelStreams() {}

    /**
     * An input stream of a connected channel.
     *
     * @param timeoutMs read before each read, 0 for none
     */
    static InputStream in(RdmaSocketChannel channel, IntSupplier timeoutMs) throws IOException {
        StreamIo io = channel.stream();
        return io != null ? new RdmaIn(channel, io, timeoutMs) : new TcpIn(channel, timeoutMs);
    }

    /** An output stream of a connected channel. */
    static OutputStream out(RdmaSocketChannel channel) throws IOException {
        StreamIo io = channel.stream();
        return io != null ? new RdmaOut(channel, io) : new TcpOut(channel);
    }

    private abstract static class In extends InputStream {
        final RdmaSocketChannel channel;
        final IntSupplier timeoutMs;

        In(RdmaSocketChannel channel, IntSupplier timeoutMs) {
            this.channel = channel;
            this.timeoutMs = timeoutMs;
        }

        @Override
        public abstract int read(byte[] b, int off, int len) throws IOException;

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) > 0 ? one[0] & 0xff : -1;
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private static final class RdmaIn extends In {
        private final StreamIo io;

        RdmaIn(RdmaSocketChannel channel, StreamIo io, IntSupplier timeoutMs) {
            super(channel, timeoutMs);
            this.io = io;
        }

        @Override
        public int read(byte[] b, int off, int len) throws IOException {
            Objects.checkFromIndexSize(off, len, b.length);
            if (len == 0) {
                return 0;
            }
            channel.ensureOpen();
            if (!channel.isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            return io.read(b, off, len, timeoutMs.getAsInt() * 1_000_000L);
        }

        @Override
        public int available() throws IOException {
            channel.ensureOpen();
            return io.available();
        }
    }

    private static final class TcpIn extends In {
        private final Socket socket;
        private final InputStream in;

        TcpIn(RdmaSocketChannel channel, IntSupplier timeoutMs) throws IOException {
            super(channel, timeoutMs);
            socket = channel.twin().socket();
            in = socket.getInputStream();
        }

        @Override
        public int read(byte[] b, int off, int len) throws IOException {
            channel.ensureOpen();
            try {
                int timeout = timeoutMs.getAsInt();
                if (socket.getSoTimeout() != timeout) {
                    socket.setSoTimeout(timeout);
                }
                int n = in.read(b, off, len);
                VerbenaStats.tcpRead(n);
                return n;
            } catch (ClosedChannelException e) {
                throw channel.twinClosed(e);
            }
        }

        @Override
        public int available() throws IOException {
            channel.ensureOpen();
            return in.available();
        }
    }

    private abstract static class Out extends OutputStream {
        final RdmaSocketChannel channel;

        Out(RdmaSocketChannel channel) {
            this.channel = channel;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private static final class RdmaOut extends Out {
        private final StreamIo io;

        RdmaOut(RdmaSocketChannel channel, StreamIo io) {
            super(channel);
            this.io = io;
        }

        @Override
        public void write(byte[] b, int off, int len) throws IOException {
            Objects.checkFromIndexSize(off, len, b.length);
            if (len == 0) {
                return;
            }
            channel.ensureOpen();
            if (!channel.isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            io.writeFully(b, off, len);
        }
    }

    private static final class TcpOut extends Out {
        private final OutputStream out;

        TcpOut(RdmaSocketChannel channel) throws IOException {
            super(channel);
            out = channel.twin().socket().getOutputStream();
        }

        @Override
        public void write(byte[] b, int off, int len) throws IOException {
            try {
                out.write(b, off, len);
                VerbenaStats.tcpWrote(len);
            } catch (ClosedChannelException e) {
                throw channel.twinClosed(e);
            }
        }
    }
}
