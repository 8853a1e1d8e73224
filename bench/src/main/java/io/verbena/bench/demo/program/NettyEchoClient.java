package io.verbena.bench.demo.program;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The client of {@link NettyEchoServer}: round trips, then a window of messages, then 64 KiB chunks one way. */
@SuppressWarnings("FutureReturnValueIgnored") // Failures come by exceptionCaught.
final class NettyEchoClient {
    private static final int MESSAGE_BYTES = 64;
    private static final int WINDOW = 256;
    private static final int PATIENCE_SECONDS = 30;

    private NettyEchoClient() {}

    /** Arguments: the echo port, the sink port, and how many seconds each measurement takes. */
    public static void main(String[] args) throws Exception {
        int seconds = Integer.parseInt(args[2]);
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            Exchange exchange = new Exchange();
            Channel echo = connect(group, Integer.parseInt(args[0]), exchange);
            Output.progress("64 B round trips");
            exchange.run(echo, 1, 2);
            exchange.run(echo, 1, seconds);
            exchange.samples.report();
            Output.progress("64 B messages, " + WINDOW + " outstanding");
            exchange.run(echo, WINDOW, 1);
            Output.result("messagesPerSecond", exchange.run(echo, WINDOW, seconds));
            echo.close().sync();

            Output.progress("64 KiB chunks one way");
            Source source = new Source();
            Channel sink = connect(group, Integer.parseInt(args[1]), source);
            Bulk.measure(seconds, bytes -> source.send(sink, bytes));
            sink.close().sync();
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private static Channel connect(EventLoopGroup group, int port, ChannelInboundHandlerAdapter handler)
            throws InterruptedException {
        return new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(handler);
                    }
                })
                .connect(InetAddress.getLoopbackAddress(), port)
                .sync()
                .channel();
    }

    /** Keeps a window of messages in flight for some time. All but {@code run} happens on the event loop. */
    private static final class Exchange extends ChannelInboundHandlerAdapter {
        private final Samples samples = new Samples();
        private CompletableFuture<Double> done;
        private int window;
        private int outstandingBytes;
        private long messages;
        private long startNs;
        private long deadlineNs;
        private long sentNs;

        /** Returns the messages that came back per second. */
        double run(Channel channel, int size, int seconds) throws Exception {
            CompletableFuture<Double> result = new CompletableFuture<>();
            channel.eventLoop().execute(() -> start(channel, size, seconds, result));
            return result.get(seconds + PATIENCE_SECONDS, TimeUnit.SECONDS);
        }

        private void start(Channel channel, int size, int seconds, CompletableFuture<Double> result) {
            done = result;
            window = size;
            messages = 0;
            samples.clear();
            startNs = System.nanoTime();
            deadlineNs = startNs + TimeUnit.SECONDS.toNanos(seconds);
            send(channel, size);
        }

        private void send(Channel channel, int count) {
            outstandingBytes += count * MESSAGE_BYTES;
            sentNs = System.nanoTime();
            for (int i = 0; i < count; i++) {
                channel.write(channel.alloc().buffer(MESSAGE_BYTES).writeZero(MESSAGE_BYTES), channel.voidPromise());
            }
            channel.flush();
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            outstandingBytes -= bytes.readableBytes();
            bytes.release();
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            int outstanding = (outstandingBytes + MESSAGE_BYTES - 1) / MESSAGE_BYTES;
            int returned = window - outstanding;
            if (returned <= 0) {
                return;
            }
            long now = System.nanoTime();
            messages += returned;
            if (window == 1) {
                samples.add(now - sentNs);
            }
            if (now < deadlineNs) {
                send(context.channel(), returned);
            } else {
                window = outstanding;
                if (outstanding == 0) {
                    done.complete(messages / ((now - startNs) / 1e9));
                }
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            fail(new IllegalStateException("the server closed the connection"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            fail(cause);
        }

        private void fail(Throwable cause) {
            if (done != null) {
                done.completeExceptionally(cause);
            }
        }
    }

    /** The sender of {@link Bulk}: writes as long as the channel is writable. */
    private static final class Source extends ChannelInboundHandlerAdapter {
        private final ByteBuf chunk = Unpooled.directBuffer(Bulk.CHUNK_BYTES).writeZero(Bulk.CHUNK_BYTES);
        private CompletableFuture<Void> done;
        private long missingBytes;
        private int answerBytes;

        void send(Channel channel, long bytes) throws Exception {
            CompletableFuture<Void> result = new CompletableFuture<>();
            channel.eventLoop().execute(() -> start(channel, bytes, result));
            result.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }

        private void start(Channel channel, long bytes, CompletableFuture<Void> result) {
            done = result;
            missingBytes = bytes;
            answerBytes = 0;
            channel.write(channel.alloc().buffer(Long.BYTES).writeLong(bytes), channel.voidPromise());
            fill(channel);
        }

        private void fill(Channel channel) {
            while (missingBytes > 0 && channel.isWritable()) {
                int count = (int) Math.min(missingBytes, Bulk.CHUNK_BYTES);
                missingBytes -= count;
                channel.write(chunk.retainedSlice(0, count), channel.voidPromise());
                if (!channel.isWritable()) {
                    channel.flush();
                }
            }
            channel.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            if (context.channel().isWritable() && missingBytes > 0) {
                // Not from within the flush that made it writable, which would nest without end.
                context.executor().execute(() -> fill(context.channel()));
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            answerBytes += bytes.readableBytes();
            bytes.release();
            if (answerBytes == Long.BYTES) {
                done.complete(null);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            fail(new IllegalStateException("the server closed the connection"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            fail(cause);
        }

        private void fail(Throwable cause) {
            if (done != null) {
                done.completeExceptionally(cause);
            }
        }
    }
}
