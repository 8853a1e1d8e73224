package io.verbena.rdma.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * The other process: prints two ports, one of streams and one of plain TCP, and serves one connection after the other.
 * A connection's first byte is the service: E echoes, S counts until the end and answers with the count, H says
 * {@code hello}, and then nothing more.
 */
final class StreamPeer {
    private static final int CHUNK_BYTES = 64 * 1024;

    private StreamPeer() {}

    public static void main(String[] args) throws Exception {
        ServerSocketChannel twin = ServerSocketChannel.open().bind(StreamPair.localPort());
        ServerSocketChannel tcp = ServerSocketChannel.open().bind(StreamPair.localPort());
        var address = (InetSocketAddress) twin.getLocalAddress();
        if (!StreamPair.TWINS) {
            twin.close();
        }
        StreamListener listener = StreamFabric.get().listen(address, 64, 0);
        Thread.ofPlatform().daemon().start(() -> serveTcp(tcp));
        System.out.println(address.getPort());
        System.out.println(((InetSocketAddress) tcp.getLocalAddress()).getPort());
        while (true) {
            RdmaStream stream = listener.accept();
            if (stream == null) {
                Thread.sleep(1);
            } else {
                serve(Conversation.over(stream));
            }
        }
    }

    private static void serveTcp(ServerSocketChannel listener) {
        while (true) {
            try {
                SocketChannel channel = listener.accept();
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                serve(Conversation.over(channel));
            } catch (IOException e) {
                System.err.println(e);
                return;
            }
        }
    }

    private static void serve(Conversation conversation) {
        try (conversation) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(CHUNK_BYTES);
            if (!conversation.readFully(buffer.limit(1))) {
                return;
            }
            switch (buffer.get(0)) {
                case 'E' -> echo(conversation, buffer);
                case 'S' -> sink(conversation, buffer);
                default -> hold(conversation);
            }
        } catch (IOException e) {
            System.err.println("connection ended: " + e);
        }
    }

    private static void echo(Conversation conversation, ByteBuffer buffer) throws IOException {
        while (conversation.read(buffer.clear()) >= 0) {
            conversation.writeFully(buffer.flip());
        }
    }

    private static void sink(Conversation conversation, ByteBuffer buffer) throws IOException {
        long total = 0;
        for (int n = conversation.read(buffer.clear()); n >= 0; n = conversation.read(buffer.clear())) {
            total += n;
        }
        conversation.writeFully(buffer.clear().putLong(total).flip());
    }

    private static void hold(Conversation conversation) throws IOException {
        conversation.writeFully(ByteBuffer.wrap(new byte[] {'h', 'e', 'l', 'l', 'o'}));
        System.out.println("held");
        int unused = System.in.read();
    }
}
