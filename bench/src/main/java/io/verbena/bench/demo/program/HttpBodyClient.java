package io.verbena.bench.demo.program;

import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;

/** The JDK's HTTP client: fetches the body of {@link HttpBodyServer}, checks its SHA-256, then times small requests. */
final class HttpBodyClient {
    private static final int TRANSFERS = 3;

    private HttpBodyClient() {}

    /** Arguments: the port, and how many seconds the small requests take. */
    public static void main(String[] args) throws Exception {
        String base = "http://" + InetAddress.getLoopbackAddress().getHostAddress() + ":" + args[0];
        try (HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            Output.progress("256 MiB bodies, SHA-256 checked");
            ByteBuffer body = ByteBuffer.allocate(HttpBodyServer.BODY_BYTES);
            fetch(client, base, body);
            double[] seconds = new double[TRANSFERS];
            for (int i = 0; i < TRANSFERS; i++) {
                seconds[i] = fetch(client, base, body);
            }
            Arrays.sort(seconds);
            Output.result("MBps", HttpBodyServer.BODY_BYTES / seconds[TRANSFERS / 2] / 1e6);

            Output.progress("64 B responses");
            Samples samples = new Samples();
            ping(client, base, 2, samples);
            samples.clear();
            ping(client, base, Integer.parseInt(args[1]), samples);
            samples.report();
        }
    }

    /** Returns the seconds that the body took to arrive, the check not included. */
    private static double fetch(HttpClient client, String base, ByteBuffer body) throws Exception {
        body.clear();
        long start = System.nanoTime();
        HttpResponse<Void> response = client.send(
                request(base + "/body"), BodyHandlers.ofByteArrayConsumer(bytes -> bytes.ifPresent(body::put)));
        double seconds = (System.nanoTime() - start) / 1e9;
        check(response, body.flip());
        return seconds;
    }

    private static void check(HttpResponse<Void> response, ByteBuffer body) throws Exception {
        String announced =
                response.headers().firstValue(HttpBodyServer.DIGEST_HEADER).orElseThrow();
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        int bytes = body.remaining();
        digest.update(body);
        String received = HexFormat.of().formatHex(digest.digest());
        if (response.statusCode() != 200 || bytes != HttpBodyServer.BODY_BYTES || !received.equals(announced)) {
            throw new IOException("status " + response.statusCode() + ", " + bytes + " bytes with SHA-256 " + received
                    + " arrived; expected " + HttpBodyServer.BODY_BYTES + " bytes with " + announced);
        }
    }

    private static void ping(HttpClient client, String base, int seconds, Samples samples)
            throws IOException, InterruptedException {
        HttpRequest request = request(base + "/ping");
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        long start = System.nanoTime();
        while (start < deadlineNs) {
            int length = client.send(request, BodyHandlers.ofByteArray()).body().length;
            if (length != 64) {
                throw new IOException(length + " bytes instead of 64");
            }
            long end = System.nanoTime();
            samples.add(end - start);
            start = end;
        }
    }

    private static HttpRequest request(String uri) {
        return HttpRequest.newBuilder(URI.create(uri))
                .timeout(Duration.ofSeconds(30))
                .build();
    }
}
