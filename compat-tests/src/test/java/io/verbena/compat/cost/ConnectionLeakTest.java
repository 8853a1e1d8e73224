package io.verbena.compat.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.verbena.compat.program.Churn;
import io.verbena.compat.support.ProgramJvm;
import io.verbena.compat.support.Provider;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** 1,000 connections opened and closed leave a process as it was. */
class ConnectionLeakTest {
    /** What the process may grow by: the JVM's own heap, code cache and metaspace go on settling after the warm-up. */
    private static final long RSS_BOUND_KIB = 96 * 1024;

    private record Resources(long fds, long threads, long memfdMappings, long memfdKiB, long rssKiB) {
        static Resources of(ProgramJvm program) throws Exception {
            program.send("resources");
            long[] values = List.of(program.expect("resources ").split(" ")).stream()
                    .mapToLong(word -> Long.parseLong(word.substring(word.indexOf('=') + 1)))
                    .toArray();
            return new Resources(values[0], values[1], values[2], values[3], values[4]);
        }

        boolean sameAs(Resources before) {
            return fds == before.fds
                    && threads == before.threads
                    && memfdMappings == before.memfdMappings
                    && memfdKiB == before.memfdKiB;
        }
    }

    @Test
    void thousandConnectionsOneAfterTheOtherLeaveNothing() throws Exception {
        leavesNothing("sequential 100", "sequential 1000");
    }

    @Test
    void fiveTimesTwoHundredConnectionsAtOnceLeaveNothing() throws Exception {
        leavesNothing("atOnce 200", "atOnce 200", "atOnce 200", "atOnce 200", "atOnce 200", "atOnce 200");
    }

    private static void leavesNothing(String warmUp, String... commands) throws Exception {
        try (ProgramJvm server = ProgramJvm.start(Provider.VERBENA_SOFT, Churn.class, List.of(), "server")) {
            String port = server.expect("port ");
            try (ProgramJvm client = ProgramJvm.start(Provider.VERBENA_SOFT, Churn.class, List.of(), "client", port)) {
                command(client, warmUp);
                Resources clientBefore = settled(client, null);
                Resources serverBefore = settled(server, null);
                for (String command : commands) {
                    command(client, command);
                }
                check("client", clientBefore, settled(client, clientBefore));
                check("server", serverBefore, settled(server, serverBefore));
                client.send("end");
                assertEquals(0, client.awaitExit(), client::transcript);
                assertTrue(client.counter("connections.soft") >= 1000, "carried by another transport");
                server.send("end");
                assertEquals(0, server.awaitExit(), server::transcript);
            }
        }
    }

    private static void command(ProgramJvm program, String command) throws Exception {
        program.send(command);
        System.out.println(command + ":" + program.expect("done"));
    }

    /** The resources once they are as before, or, without a before, free of used memory and the same three times. */
    private static Resources settled(ProgramJvm program, Resources before) throws Exception {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        Resources last = Resources.of(program);
        int same = 0;
        while (System.nanoTime() - deadlineNs < 0 && !(before != null ? last.sameAs(before) : same >= 3)) {
            Resources now = Resources.of(program);
            same = now.sameAs(last) && now.memfdKiB == 0 ? same + 1 : 0;
            last = now;
        }
        return last;
    }

    private static void check(String side, Resources before, Resources after) {
        System.out.println(side + " before " + before + ", after " + after);
        assertTrue(after.sameAs(before), () -> side + ": before " + before + ", after " + after);
        assertTrue(
                after.rssKiB - before.rssKiB <= RSS_BOUND_KIB, () -> side + ": before " + before + ", after " + after);
    }
}
