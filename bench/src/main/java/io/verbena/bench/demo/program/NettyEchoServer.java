package io.verbena.bench.demo.program;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Supplier;

/** An echo server and a sink on Netty: one port returns what it gets, the other answers whole transfers. */
@SuppressWarnings("FutureReturnValueIgnored") // Failures come by exceptionCaught.
final class NettyEchoServer {
    private NettyEchoServer() {}

    public static void main(String[] args) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            Channel echo = listen(group, Echo::new);
            Channel sink = listen(group, Sink::new);
            Output.ready(port(echo), port(sink));
            Output.awaitEndOfInput();
            echo.close().sync();
            sink.close().sync();
        } finally {
            group.shutdownGracefully().sync();
        }
    }

    private static Channel listen(EventLoopGroup group, Supplier<ChannelHandler> handler) throws InterruptedException {
        return new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(handler.get());
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
    }

    private static int port(Channel channel) {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message, context.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }

    /** The receiver of {@link Bulk}. */
    private static final class Sink extends ChannelInboundHandlerAdapter {
        private final ByteBuf header = Unpooled.buffer(Long.BYTES, Long.BYTES);
        private long expectedBytes;
        private long missingBytes;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            try {
                while (bytes.isReadable()) {
                    take(context, bytes);
                }
            } finally {
                bytes.release();
            }
        }

        private void take(ChannelHandlerContext context, ByteBuf bytes) {
            if (missingBytes == 0) {
                header.writeBytes(bytes, Math.min(header.writableBytes(), bytes.readableBytes()));
                if (!header.isWritable()) {
                    expectedBytes = header.readLong();
                    missingBytes = expectedBytes;
                    header.clear();
                }
                return;
            }
            int count = (int) Math.min(missingBytes, bytes.readableBytes());
            bytes.skipBytes(count);
            missingBytes -= count;
            if (missingBytes == 0) {
                context.writeAndFlush(context.alloc().buffer(Long.BYTES).writeLong(expectedBytes));
            }
        }
    }
}
