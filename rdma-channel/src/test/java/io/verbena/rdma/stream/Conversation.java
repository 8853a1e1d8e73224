package io.verbena.rdma.stream;

import static io.verbena.rdma.stream.RdmaStream.READABLE;
import static io.verbena.rdma.stream.RdmaStream.WRITABLE;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/** One end of a connection used in blocking style, over a stream or over the JDK's TCP, to compare the two. */
abstract class Conversation implements AutoCloseable {
    /** Reads some bytes, -1 at the end. */
    abstract int read(ByteBuffer dst) throws IOException;

    /** Writes some bytes. */
    abstract void write(ByteBuffer src) throws IOException;

    abstract void shutdownOutput() throws IOException;

    @Override
    public abstract void close() throws IOException;

    /** Fills a buffer; false if the end came first. */
    final boolean readFully(ByteBuffer dst) throws IOException {
        while (dst.hasRemaining()) {
            if (read(dst) < 0) {
                return false;
            }
        }
        return true;
    }

    final void writeFully(ByteBuffer src) throws IOException {
        while (src.hasRemaining()) {
            write(src);
        }
    }

    static Conversation over(RdmaStream stream) {
        return new OverStream(stream);
    }

    static Conversation over(SocketChannel channel) {
        return new OverTcp(channel);
    }

    /** Connects a stream from a twin of its own. */
    static Conversation connectStream(InetSocketAddress to) throws IOException {
        SocketChannel twin = SocketChannel.open().bind(StreamPair.localPort());
        var local = (InetSocketAddress) twin.getLocalAddress();
        if (!StreamPair.TWINS) {
            twin.close();
        }
        PendingConnect pending = StreamFabric.get().connect(local, to, 0, true);
        if (!pending.await(20, TimeUnit.SECONDS) || pending.stream() == null) {
            throw new IOException("connect to " + to + " failed: " + pending.failure());
        }
        pending.release();
        return new OverStream(pending.stream(), twin);
    }

    private static final class OverStream extends Conversation {
        private final RdmaStream stream;
        private final SocketChannel twin;

        OverStream(RdmaStream stream) {
            this(stream, null);
        }

        OverStream(RdmaStream stream, SocketChannel twin) {
            this.stream = stream;
            this.twin = twin;
        }

        @Override
        int read(ByteBuffer dst) throws IOException {
            int n = stream.read(dst);
            while (n == 0) {
                stream.await(READABLE, TimeUnit.SECONDS.toNanos(30));
                n = stream.read(dst);
            }
            return n;
        }

        @Override
        void write(ByteBuffer src) throws IOException {
            while (stream.write(src) == 0) {
                stream.await(WRITABLE, TimeUnit.SECONDS.toNanos(30));
            }
        }

        @Override
        void shutdownOutput() throws IOException {
            stream.shutdownOutput();
        }

        @Override
        public void close() throws IOException {
            stream.close(false);
            if (twin != null) {
                twin.close();
            }
        }
    }

    private static final class OverTcp extends Conversation {
        private final SocketChannel channel;

        OverTcp(SocketChannel channel) {
            this.channel = channel;
        }

        @Override
        int read(ByteBuffer dst) throws IOException {
            return channel.read(dst);
        }

        @Override
        void write(ByteBuffer src) throws IOException {
            int unused = channel.write(src);
        }

        @Override
        void shutdownOutput() throws IOException {
            SocketChannel unused = channel.shutdownOutput();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
