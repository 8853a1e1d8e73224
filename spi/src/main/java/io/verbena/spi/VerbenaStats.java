package io.verbena.spi;

import io.verbena.rdma.stream.RdmaStream;
import io.verbena.rdma.stream.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * What Verbena's channels of this process carried: counted, never guessed. Thread-safe; values are as of the call.
 *
 * <p>Counters, all since the start of the JVM: {@code connections.X} (connects that ended on transport X),
 * {@code accepted.X}, {@code bytesIn.X}, {@code bytesOut.X} with X one of {@code soft}, {@code tcp}, {@code rdma}, and
 * {@code reason.R}, how many connections or listeners got their transport for {@link Reason} R.
 */
public final class VerbenaStats {
    private static final String[] TRANSPORTS = {"soft", "tcp", "rdma"};
    private static final String[] KINDS = {"connections", "accepted", "bytesIn", "bytesOut"};

    private static final Map<String, LongAdder> COUNTERS = new ConcurrentHashMap<>();
    private static final Map<Reason, LongAdder> REASONS = new EnumMap<>(Reason.class);
    /** Streams not closed yet; their bytes are added to the counters when they close. */
    private static final Set<Traffic> LIVE = ConcurrentHashMap.newKeySet();

    private static final LongAdder TCP_IN;
    private static final LongAdder TCP_OUT;
    private static final AtomicBoolean HOOKED = new AtomicBoolean();

    static {
        for (String kind : KINDS) {
            for (String transport : TRANSPORTS) {
                COUNTERS.put(kind + "." + transport, new LongAdder());
            }
        }
        for (Reason reason : Reason.values()) {
            REASONS.put(reason, new LongAdder());
        }
        TCP_IN = COUNTERS.get("bytesIn.tcp");
        TCP_OUT = COUNTERS.get("bytesOut.tcp");
    }

    private VerbenaStats() {}

    /**
     * One counter.
     *
     * @param counter its name, for example {@code "connections.soft"}
     * @throws IllegalArgumentException if there is no such counter
     */
    public static long get(String counter) {
        Long value = snapshot().get(counter);
        if (value == null) {
            throw new IllegalArgumentException(
                    "no counter " + counter + "; there are " + snapshot().keySet());
        }
        return value;
    }

    /** All counters, sorted by name. */
    public static Map<String, Long> snapshot() {
        Map<String, Long> values = new TreeMap<>();
        COUNTERS.forEach((name, value) -> values.put(name, value.sum()));
        REASONS.forEach((reason, value) -> values.put("reason." + reason, value.sum()));
        for (Traffic live : LIVE) {
            values.merge("bytesIn." + transport(live.soft), live.in(), Long::sum);
            values.merge("bytesOut." + transport(live.soft), live.out(), Long::sum);
        }
        return values;
    }

    private static String transport(boolean soft) {
        return soft ? "soft" : "rdma";
    }

    static Traffic streamOpened(RdmaStream stream, boolean accepted) {
        boolean soft = stream.transport().equals("soft");
        count(accepted ? "accepted" : "connections", transport(soft));
        if (!accepted && soft) {
            reason(Reason.SOFT);
        }
        Traffic traffic = new Traffic(soft);
        LIVE.add(traffic);
        return traffic;
    }

    static void streamClosed(Traffic traffic) {
        if (LIVE.remove(traffic)) {
            COUNTERS.get("bytesIn." + transport(traffic.soft)).add(traffic.in());
            COUNTERS.get("bytesOut." + transport(traffic.soft)).add(traffic.out());
        }
    }

    static void tcpOpened(boolean accepted) {
        count(accepted ? "accepted" : "connections", "tcp");
    }

    static void tcpRead(long bytes) {
        if (bytes > 0) {
            TCP_IN.add(bytes);
        }
    }

    static void tcpWrote(long bytes) {
        if (bytes > 0) {
            TCP_OUT.add(bytes);
        }
    }

    static void reason(Reason reason) {
        REASONS.get(reason).increment();
    }

    private static void count(String kind, String transport) {
        COUNTERS.get(kind + "." + transport).increment();
    }

    /** Writes {@code key=value} lines when the JVM ends; {@code %p} in the name stands for the process id. */
    static void reportAtExit(String file) {
        if (HOOKED.compareAndSet(false, true)) {
            Path path = Path.of(
                    file.replace("%p", Long.toString(ProcessHandle.current().pid())));
            Runtime.getRuntime().addShutdownHook(new Thread(() -> report(path), "verbena-report"));
        }
    }

    private static void report(Path path) {
        StringBuilder text = new StringBuilder();
        snapshot()
                .forEach((name, value) ->
                        text.append(name).append('=').append(value).append('\n'));
        try {
            Files.writeString(path, text);
        } catch (IOException e) {
            System.err.println("verbena: " + Config.REPORT + "=" + path + " can't be written: " + e);
        }
    }
}
