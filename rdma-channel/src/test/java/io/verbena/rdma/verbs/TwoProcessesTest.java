package io.verbena.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The device between two JVMs. */
@Timeout(60)
class TwoProcessesTest {
    private static final int WARM_UP = 20_000;
    private static final int ROUNDS = 20_000;

    @BeforeEach
    void require() throws Exception {
        RealDevice.requireWriteWithImm();
    }

    @Test
    void pingPongWhileBothPoll() throws Exception {
        assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "one CPU: pollers wait for each other's time slice");
        pingPong("spin");
    }

    @Test
    void pingPongWhileBothSleep() throws Exception {
        pingPong("sleep");
    }

    private static void pingPong(String mode) throws Exception {
        try (Server server = new Server();
                Jvm peer = new Jvm(EchoPeer.class, Integer.toString(server.port()), mode);
                Endpoint end = server.accept(Endpoint.Caps.DEFAULT, 64)) {
            assertTrue(peer.process.isAlive());
            ByteBuffer message = ByteBuffer.allocate(16);
            int rounds = mode.equals("spin") ? ROUNDS : ROUNDS / 4;
            long[] times = new long[rounds];
            for (int i = -WARM_UP; i < rounds; i++) {
                long start = System.nanoTime();
                end.writeImm(message, 0, i, 0);
                await(end, mode.equals("sleep"));
                assertEquals(i, end.wcs[0].getImm_data());
                if (i >= 0) {
                    times[i] = System.nanoTime() - start;
                }
                end.postRecv(1);
            }
            Arrays.sort(times);
            System.out.printf(
                    "%s, two processes: round trip p50 %d ns, p99 %d ns, one way %d ns%n",
                    mode, times[rounds / 2], times[rounds * 99 / 100], times[rounds / 2] / 2);
        }
    }

    private static void await(Endpoint end, boolean sleep) throws IOException {
        while (end.pollOnce() == 0) {
            if (sleep) {
                end.arm(false);
                if (end.pollOnce() > 0) {
                    return;
                }
                boolean unused = end.comp.getCqEvent(end.cq, 1000);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void killedPeerIsNoticedByCmAndFlushAndWhatItSentIsStillRead() throws Exception {
        try (Server server = new Server();
                Jvm peer = new Jvm(EchoPeer.class, Integer.toString(server.port()), "hold");
                Endpoint end = server.accept(Endpoint.Caps.DEFAULT, 3)) {
            assertEquals("held", peer.line());
            long start = System.nanoTime();
            peer.kill();
            RdmaCmEvent unused = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_DISCONNECTED);
            long noticed = System.nanoTime() - start;
            int status = end.id.disconnect(); // on real devices this is what flushes the queue pair
            assertEquals(0, status);
            var completions = end.reap(3);
            long flushed = System.nanoTime() - start;
            System.out.printf(
                    "kill -9: DISCONNECTED after %d us, flushed after %d us%n", noticed / 1000, flushed / 1000);
            assertEquals(
                    IbvWC.IbvWcStatus.IBV_WC_SUCCESS.ordinal(),
                    completions.get(0).getStatus());
            assertEquals(42, completions.get(0).getImm_data());
            assertEquals(
                    IbvWC.IbvWcStatus.IBV_WC_WR_FLUSH_ERR.ordinal(),
                    completions.get(1).getStatus());
            assertEquals(
                    IbvWC.IbvWcStatus.IBV_WC_WR_FLUSH_ERR.ordinal(),
                    completions.get(2).getStatus());
            assertTrue(flushed < 100_000_000, "noticed after " + flushed + " ns");
        }
    }
}
