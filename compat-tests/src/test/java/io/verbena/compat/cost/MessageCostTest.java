package io.verbena.compat.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.compat.program.PingPong;
import io.verbena.compat.support.ProgramJvm;
import io.verbena.compat.support.Provider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What a message costs between two JVMs over soft, beside TCP in the same run. Times are compared as ratios, and each
 * claim has three runs to come true, since the machine may be busy; they are printed.
 */
class MessageCostTest {
    private static final int RUNS = 3;
    private static final int ROUNDS = 30_000;

    /** Both sides are to be busy: neither falls asleep because the trace makes the other slow. */
    private static final List<String> POLLING = List.of("-Dio.verbena.spin=1000");

    /** Per round trip: the trace itself makes the client so slow at times that a side sleeps or yields. */
    private static final double MOST_CALLS = 0.25;

    private record Figures(long p50Ns, long p99Ns, long bytesPerSecond, long clientAllocated, long serverAllocated) {}

    private static Figures run(Provider provider, String... jvmOptions) throws Exception {
        try (ProgramJvm server = ProgramJvm.start(provider, PingPong.class, List.of(jvmOptions), "server")) {
            String port = server.expect("port ");
            try (ProgramJvm client = ProgramJvm.start(provider, PingPong.class, List.of(jvmOptions), "client", port)) {
                long serverAllocated = Long.parseLong(server.expect("allocated "));
                long allocated = Long.parseLong(client.expect("allocated "));
                long p50 = Long.parseLong(client.expect("p50 "));
                long p99 = Long.parseLong(client.expect("p99 "));
                long bytesPerSecond = Long.parseLong(client.expect("bytesPerSecond "));
                assertEquals(0, client.awaitExit(), client::transcript);
                assertEquals(0, server.awaitExit(), server::transcript);
                if (provider == Provider.VERBENA_SOFT) {
                    assertEquals(1, client.counter("connections.soft"), "carried by another transport");
                }
                var figures = new Figures(p50, p99, bytesPerSecond, allocated, serverAllocated);
                System.out.println(provider + " " + List.of(jvmOptions) + " " + figures);
                return figures;
            }
        }
    }

    @Test
    void pollingRoundTripIsBelowAFifthOfTcpAndBulkAtLeastTwice() throws Exception {
        double roundTrip = Double.MAX_VALUE;
        double bulk = 0;
        for (int i = 0; i < RUNS && (roundTrip > 0.2 || bulk < 2); i++) {
            Figures tcp = run(Provider.JDK_TCP);
            Figures soft = run(Provider.VERBENA_SOFT);
            roundTrip = Math.min(roundTrip, (double) soft.p50Ns / tcp.p50Ns);
            bulk = Math.max(bulk, (double) soft.bytesPerSecond / tcp.bytesPerSecond);
        }
        assertTrue(roundTrip < 0.2, "round trip " + roundTrip + " of TCP's");
        assertTrue(bulk >= 2, "64 KiB one-way " + bulk + " times TCP's");
    }

    @Test
    void blockingRoundTripIsBelowTcp() throws Exception {
        double roundTrip = Double.MAX_VALUE;
        for (int i = 0; i < RUNS && roundTrip >= 1; i++) {
            Figures tcp = run(Provider.JDK_TCP);
            Figures soft = run(Provider.VERBENA_SOFT, "-Dio.verbena.spin=0");
            roundTrip = Math.min(roundTrip, (double) soft.p50Ns / tcp.p50Ns);
        }
        assertTrue(roundTrip < 1, "round trip " + roundTrip + " of TCP's");
    }

    @Test
    void readAndWriteAllocateNothingInSteadyState() throws Exception {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < RUNS && least >= ROUNDS; i++) {
            Figures soft = run(Provider.VERBENA_SOFT);
            least = Math.min(least, Math.max(soft.clientAllocated, soft.serverAllocated));
        }
        // The JIT may still compile a path within the measured rounds; what is asked is no allocation per operation.
        assertTrue(least < ROUNDS, least + " bytes in " + ROUNDS + " round trips");
    }

    @Test
    void busySidesMakeNoSystemCallPerMessage() throws Exception {
        Path strace = Path.of("/usr/bin/strace");
        assumeTrue(Files.isExecutable(strace), "strace is not installed");
        double least = Double.MAX_VALUE;
        for (int i = 0; i < RUNS && least > MOST_CALLS; i++) {
            least = Math.min(least, (double) tracedCalls(strace) / ROUNDS);
        }
        System.out.println("system calls per round trip: " + least);
        assertTrue(least <= MOST_CALLS, least + " system calls per round trip");
    }

    /** The system calls of the client between its marks. */
    private static long tracedCalls(Path strace) throws Exception {
        Path trace = Files.createTempFile("verbena-trace", ".txt");
        try (ProgramJvm server = ProgramJvm.start(Provider.VERBENA_SOFT, PingPong.class, POLLING, "server")) {
            String port = server.expect("port ");
            var command = List.of(strace.toString(), "-f", "-qq", "-e", "signal=none", "-o", trace.toString());
            try (ProgramJvm client =
                    ProgramJvm.startUnder(command, Provider.VERBENA_SOFT, PingPong.class, List.of(), "client", port)) {
                client.expect("bytesPerSecond ");
                assertEquals(0, client.awaitExit(), client::transcript);
                assertEquals(1, client.counter("connections.soft"), "carried by another transport");
            }
            return callsOfMarkedThread(trace);
        } finally {
            Files.deleteIfExists(trace);
        }
    }

    private static long callsOfMarkedThread(Path trace) throws IOException {
        List<String> lines = Files.readAllLines(trace);
        int begin = indexOf(lines, "/verbena-mark-begin");
        int end = indexOf(lines, "/verbena-mark-end");
        String thread = lines.get(begin).split(" ", 2)[0];
        try (Stream<String> between = lines.subList(begin + 1, end).stream()) {
            return between.filter(line -> line.startsWith(thread + " ")).count();
        }
    }

    private static int indexOf(List<String> lines, String text) {
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).contains(text)) {
                return i;
            }
        }
        throw new AssertionError("the trace has no " + text);
    }
}
