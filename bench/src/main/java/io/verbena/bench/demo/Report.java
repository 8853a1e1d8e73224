package io.verbena.bench.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Verbena's counters as it wrote them at the end of a JVM: {@code key=value} lines, see {@code io.verbena.report}. */
final class Report {
    private static final List<String> TRANSPORTS = List.of("soft", "rdma", "tcp");

    private final Map<String, Long> counters = new HashMap<>();

    private Report() {}

    /**
     * Reads a report.
     *
     * @throws DemoException if there is none, which means that Verbena was not loaded or did not end as it should
     */
    static Report read(Path file) throws DemoException, IOException {
        if (!Files.exists(file)) {
            throw new DemoException("Verbena was asked for and wrote no report " + file
                    + "; what carried the connections is not known");
        }
        Report report = new Report();
        for (String line : Files.readAllLines(file)) {
            int equals = line.indexOf('=');
            if (equals < 0) {
                continue;
            }
            try {
                report.counters.put(
                        line.substring(0, equals).strip(),
                        Long.valueOf(line.substring(equals + 1).strip()));
            } catch (NumberFormatException _) {
                // A line for people, such as a reason or a time; only numbers matter here.
            }
        }
        return report;
    }

    /** Connections that went over something faster than TCP. */
    long fastConnections() {
        return counter("connections.soft") + counter("connections.rdma");
    }

    /** Such as "soft, 2 connections, 512.0 MiB", for the connections that this side made. */
    String describeConnections() {
        return describe("connections.");
    }

    /** The same for the connections that this side accepted. */
    String describeAccepted() {
        return describe("accepted.");
    }

    /** The reasons that were counted, such as "; MODE_TCP: 2". */
    String describeReasons() {
        StringBuilder text = new StringBuilder();
        new TreeMap<>(counters).forEach((key, count) -> {
            if (key.startsWith("reason.") && count > 0) {
                text.append("; ")
                        .append(key.substring("reason.".length()))
                        .append(": ")
                        .append(count);
            }
        });
        return text.toString();
    }

    /** True if this side accepted over each transport as many connections as the other side made over it. */
    boolean accepted(Report client) {
        return TRANSPORTS.stream()
                .allMatch(name -> counter("accepted." + name) == client.counter("connections." + name));
    }

    private String describe(String kind) {
        StringBuilder text = new StringBuilder();
        for (String name : TRANSPORTS) {
            long connections = counter(kind + name);
            if (connections == 0) {
                continue;
            }
            long bytes = counter("bytesIn." + name) + counter("bytesOut." + name);
            text.append(text.isEmpty() ? "" : " + ")
                    .append(String.format(
                            Locale.ROOT,
                            "%s, %d connection%s, %.1f MiB",
                            name,
                            connections,
                            connections == 1 ? "" : "s",
                            bytes / (double) (1 << 20)));
        }
        return text.isEmpty() ? "none" : text.toString();
    }

    private long counter(String key) {
        return counters.getOrDefault(key, 0L);
    }
}
