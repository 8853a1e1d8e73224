package io.verbena.bench.demo.program;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The JDK's HTTP server with a large body at /body and a small one at /ping. */
final class HttpBodyServer {
    static final int BODY_BYTES = 256 << 20;
    static final String DIGEST_HEADER = "X-Body-SHA-256";

    private HttpBodyServer() {}

    public static void main(String[] args) throws Exception {
        byte[] body = new byte[BODY_BYTES];
        new SplittableRandom(42).nextBytes(body);
        String digest =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body));
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            server.setExecutor(threads);
            server.createContext("/body", exchange -> answer(exchange, body, digest));
            server.createContext("/ping", exchange -> answer(exchange, new byte[64], ""));
            server.start();
            Output.ready(server.getAddress().getPort());
            Output.awaitEndOfInput();
            server.stop(0);
        }
    }

    private static void answer(HttpExchange exchange, byte[] body, String digest) throws IOException {
        exchange.getResponseHeaders().set(DIGEST_HEADER, digest);
        exchange.sendResponseHeaders(200, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            for (int from = 0; from < body.length; from += Bulk.CHUNK_BYTES) {
                out.write(body, from, Math.min(Bulk.CHUNK_BYTES, body.length - from));
            }
        }
    }
}
