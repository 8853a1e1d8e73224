package io.verbena.compat.program;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** Accepts one connection, writes a few bytes, and on a line of input reads to the end and says what it found. */
public final class EndReader {
    private EndReader() {}

    public static void main(String[] args) throws Exception {
        int sendBytes = Integer.parseInt(args[0]);
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (ServerSocketChannel listener =
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            System.out.println("port " + ((InetSocketAddress) listener.getLocalAddress()).getPort());
            try (SocketChannel channel = listener.accept()) {
                channel.write(ByteBuffer.allocate(sendBytes));
                System.out.println("accepted");
                in.readLine();
                System.out.println("found " + readToEnd(channel));
            }
        }
    }

    private static String readToEnd(SocketChannel channel) {
        ByteBuffer buffer = ByteBuffer.allocate(8192);
        long total = 0;
        try {
            while (true) {
                int n = channel.read(buffer.clear());
                if (n < 0) {
                    return total + " -1";
                }
                for (int i = 0; i < n; i++) {
                    if (buffer.get(i) != (byte) ((total + i) * 31)) {
                        return "wrong byte at " + (total + i);
                    }
                }
                total += n;
            }
        } catch (IOException e) {
            return total + " " + e.getMessage();
        }
    }
}
