package io.verbena.compat.program;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** Connects, writes, and ends in the way asked for without ever closing the channel. Arguments: port bytes ending. */
public final class EndingWriter {
    private static SocketChannel keptOpen;

    private EndingWriter() {}

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        int bytes = Integer.parseInt(args[1]);
        keptOpen = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        ByteBuffer pattern = ByteBuffer.allocate(bytes);
        for (int i = 0; i < bytes; i++) {
            pattern.put(i, (byte) (i * 31));
        }
        while (pattern.hasRemaining()) {
            keptOpen.write(pattern);
        }
        System.out.println("written " + bytes);
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        in.readLine(); // what the peer sent may have arrived by now, unread
        switch (args[2]) {
            case "return" -> {}
            case "exit" -> System.exit(3);
            case "halt" -> Runtime.getRuntime().halt(4);
            case "kill" -> in.readLine(); // killed here
            default -> throw new IllegalArgumentException(args[2]);
        }
    }
}
