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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Opens and closes connections; on request tells what the process holds. {@code Churn server}, or {@code Churn client
 * PORT}. Commands by line: {@code sequential N}, {@code atOnce N} (client only), {@code resources}, {@code end}.
 */
public final class Churn {
    private static final int MESSAGE_BYTES = 3000;

    private Churn() {}

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        if (args[0].equals("server")) {
            startServer();
        }
        for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "sequential" -> sequential(Integer.parseInt(args[1]), Integer.parseInt(words[1]));
                case "atOnce" -> atOnce(Integer.parseInt(args[1]), Integer.parseInt(words[1]));
                default -> System.out.println("resources " + resources());
            }
        }
    }

    private static void startServer() throws IOException {
        ServerSocketChannel listener =
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1000);
        System.out.println("port " + ((InetSocketAddress) listener.getLocalAddress()).getPort());
        Thread.ofPlatform().daemon().start(() -> {
            while (true) {
                try {
                    SocketChannel channel = listener.accept();
                    Thread.startVirtualThread(() -> echo(channel));
                } catch (IOException e) {
                    System.out.println("accept failed: " + e);
                    return;
                }
            }
        });
    }

    private static void echo(SocketChannel channel) {
        try (channel) {
            ByteBuffer message = ByteBuffer.allocate(MESSAGE_BYTES);
            while (readFully(channel, message.clear())) {
                channel.write(message.flip());
            }
        } catch (IOException e) {
            System.out.println("echo failed: " + e);
        }
    }

    private static boolean readFully(SocketChannel channel, ByteBuffer dst) throws IOException {
        while (dst.hasRemaining()) {
            if (channel.read(dst) < 0) {
                return false;
            }
        }
        return true;
    }

    private static SocketChannel connect(int port) throws IOException {
        return SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    private static void roundTrip(SocketChannel channel) throws IOException {
        ByteBuffer message = ByteBuffer.allocate(MESSAGE_BYTES);
        channel.write(message);
        if (!readFully(channel, message.clear())) {
            throw new IOException("ended");
        }
    }

    private static void sequential(int port, int count) throws IOException {
        long startNs = System.nanoTime();
        for (int i = 0; i < count; i++) {
            try (SocketChannel channel = connect(port)) {
                roundTrip(channel);
            }
        }
        System.out.println("done " + (System.nanoTime() - startNs) / count + " ns a connection");
    }

    private static void atOnce(int port, int count) throws IOException {
        List<SocketChannel> open = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            open.add(connect(port));
        }
        for (SocketChannel channel : open) {
            roundTrip(channel);
        }
        for (SocketChannel channel : open) {
            channel.close();
        }
        System.out.println("done");
    }

    /** fds, threads, mappings of memfds, their resident KiB, and the process's resident KiB. */
    private static String resources() throws IOException {
        System.gc();
        long memfds = 0;
        long memfdKiB = 0;
        boolean ours = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                ours = line.contains("memfd:");
                memfds += ours ? 1 : 0;
            } else if (ours && line.startsWith("Rss:")) {
                memfdKiB += number(line);
            }
        }
        return "fds=" + fds() + " threads=" + platformThreads() + " memfdMappings=" + memfds + " memfdKiB=" + memfdKiB
                + " rssKiB=" + status("VmRSS:");
    }

    private static long fds() throws IOException {
        try (Stream<Path> list = Files.list(Path.of("/proc/self/fd"))) {
            return list.count();
        }
    }

    /** Threads of Verbena, which alone are counted: the JVM's own come and go. */
    private static long platformThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("verbena"))
                .count();
    }

    private static long status(String key) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(key))
                .mapToLong(Churn::number)
                .findFirst()
                .orElseThrow();
    }

    private static long number(String line) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
    }
}
