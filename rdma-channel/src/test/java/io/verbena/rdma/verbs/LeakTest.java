package io.verbena.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections leave nothing behind. */
@Timeout(120)
class LeakTest {
    /** What a process holds. */
    record Held(long fds, long memfdMappings, long memfdPages, int threads) {
        /** Nothing may be held that was not before; what other tests of this JVM left may go meanwhile. */
        void assertNoMoreNow(String when) throws IOException {
            Held now = now();
            assertTrue(
                    now.fds <= fds
                            && now.memfdMappings <= memfdMappings
                            && now.memfdPages <= memfdPages
                            && now.threads <= threads,
                    when + ": " + this + " before, now " + now);
        }

        static Held now() throws IOException {
            try (Stream<Path> fds = Files.list(Path.of("/proc/self/fd"))) {
                long memfdMappings = 0;
                long memfdKb = 0;
                boolean inMemfd = false;
                for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
                    if (line.matches("^[0-9a-f]+-.*")) {
                        inMemfd = line.contains("memfd:");
                        memfdMappings += inMemfd ? 1 : 0;
                    } else if (inMemfd && line.startsWith("Rss:")) {
                        memfdKb += Long.parseLong(line.replaceAll("\\D", ""));
                    }
                }
                return new Held(
                        fds.count(),
                        memfdMappings,
                        memfdKb,
                        ProcessHandle.current().isAlive()
                                ? Thread.getAllStackTraces().size()
                                : 0);
            }
        }
    }

    /** Opens connections, all at once, and exchanges a message on each. */
    private static List<Endpoint> open(RdmaEventChannel channel, Server server, int count) throws IOException {
        InetSocketAddress to = TestAddress.port(server.port());
        Map<RdmaCmId, Endpoint> clients = new HashMap<>();
        List<Endpoint> all = new ArrayList<>();
        ArrayDeque<Endpoint> accepted = new ArrayDeque<>();
        for (int i = 0; i < count; i++) {
            Endpoint client = new Endpoint(channel, Endpoint.resolve(channel, to), Endpoint.Caps.DEFAULT);
            client.postRecv(8);
            client.id.connect(Endpoint.param(client.describeRing()));
            Endpoint unused = clients.put(client.id, client);
            all.add(client);
            RdmaCmEvent request = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
            Endpoint end = new Endpoint(server.channel, request.getConnIdPriv(), Endpoint.Caps.DEFAULT);
            end.learnRing(((ConnectionEvent) request).privateData());
            end.postRecv(8);
            end.id.accept(Endpoint.param(end.describeRing()));
            accepted.add(end);
            RdmaCmEvent established = Endpoint.expect(channel, EventType.RDMA_CM_EVENT_ESTABLISHED);
            clients.get(established.getConnIdPriv()).learnRing(((ConnectionEvent) established).privateData());
            established = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_ESTABLISHED);
        }
        for (Endpoint client : all) {
            client.writeImm(ByteBuffer.allocate(1000), 0, 1, 0);
        }
        for (Endpoint end : accepted) {
            assertEquals(1, end.reap(1).get(0).getImm_data());
        }
        all.addAll(accepted);
        return all;
    }

    private static void openAndClose(RdmaEventChannel channel, Server server, int count) throws IOException {
        List<Endpoint> all = open(channel, server, count);
        for (Endpoint end : all) {
            end.close();
        }
        while (channel.getCmEvent(0) != null || server.channel.getCmEvent(0) != null) {}
    }

    @Test
    void aThousandConnectionsLeaveNothing() throws Exception {
        RdmaEventChannel channel = Verbs.backend().createEventChannel();
        try (Server server = new Server()) {
            openAndClose(channel, server, 3);
            Held before = Held.now();
            long start = System.nanoTime();
            for (int i = 0; i < 1000; i++) {
                openAndClose(channel, server, 1);
            }
            System.out.printf(
                    "connect, one message, close, both sides in one thread: %d us%n",
                    (System.nanoTime() - start) / 1_000_000);
            before.assertNoMoreNow("one after the other");
            for (int i = 0; i < 5; i++) {
                start = System.nanoTime();
                openAndClose(channel, server, 200);
                System.out.printf("the same, 200 at once: %d us each%n", (System.nanoTime() - start) / 200_000);
            }
            before.assertNoMoreNow("200 at once");
        } finally {
            int unused = channel.destroyEventChannel();
        }
    }

    @Test
    void aConnectionHoldsOneDescriptorASide() throws Exception {
        RdmaEventChannel channel = Verbs.backend().createEventChannel();
        try (Server server = new Server()) {
            List<Endpoint> some = open(channel, server, 2);
            Held before = Held.now();
            List<Endpoint> more = open(channel, server, 20);
            Held after = Held.now();
            assertTrue(after.fds() <= before.fds() + 2 * 20, before + ", with 20 more " + after);
            assertEquals(before.memfdMappings(), after.memfdMappings());
            some.addAll(more);
            for (Endpoint end : some) {
                end.close();
            }
        } finally {
            int unused = channel.destroyEventChannel();
        }
    }

    @Test
    void failedAttemptsLeaveNothing() throws Exception {
        RdmaEventChannel channel = Verbs.backend().createEventChannel();
        try (Server server = new Server()) {
            openAndClose(channel, server, 1);
            Held before = Held.now();
            InetSocketAddress to = TestAddress.port(server.port());
            for (int i = 0; i < 20; i++) {
                // Resolved, then dropped; with a queue pair, then dropped; asked, then dropped on either side.
                int unused = Endpoint.resolve(channel, to).destroyId();
                new Endpoint(channel, Endpoint.resolve(channel, to), Endpoint.Caps.DEFAULT).close();
                Endpoint asked = new Endpoint(channel, Endpoint.resolve(channel, to), Endpoint.Caps.DEFAULT);
                asked.id.connect(Endpoint.param(asked.describeRing()));
                RdmaCmEvent request = Endpoint.expect(server.channel, EventType.RDMA_CM_EVENT_CONNECT_REQUEST);
                if (i % 2 == 0) {
                    unused = request.getConnIdPriv().destroyId();
                    asked.close();
                } else {
                    asked.close();
                    unused = request.getConnIdPriv().destroyId();
                }
            }
            while (channel.getCmEvent(0) != null || server.channel.getCmEvent(0) != null) {}
            before.assertNoMoreNow("after failed attempts");
        } finally {
            int unused = channel.destroyEventChannel();
        }
    }
}
