package io.verbena.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** At the limit of open files a connection fails with a reason, and nothing of it stays. */
@Timeout(60)
class LimitsTest {
    private static final int MANY = 24;

    private static ArrayDeque<Integer> takeAllDescriptors() {
        ArrayDeque<Integer> taken = new ArrayDeque<>();
        int fd = Linux.eventfd(0, Linux.O_CLOEXEC);
        while (fd >= 0) {
            taken.push(fd);
            fd = Linux.eventfd(0, Linux.O_CLOEXEC);
        }
        return taken;
    }

    private static void free(ArrayDeque<Integer> taken, int count) {
        for (int i = 0; i < count && !taken.isEmpty(); i++) {
            int unused = Linux.close(taken.pop());
        }
    }

    /** Tries to connect; whether it worked. What it made is gone afterwards. */
    private static boolean attempt(RdmaEventChannel channel, Server server) throws IOException {
        RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
        Endpoint client = null;
        Endpoint end = null;
        try {
            id.resolveAddr(null, new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()), 1000);
            if (channel.getCmEvent(1000).getEvent() != EventType.RDMA_CM_EVENT_ADDR_RESOLVED.ordinal()) {
                return false;
            }
            client = new Endpoint(channel, id, Endpoint.Caps.DEFAULT);
            client.id.connect(Endpoint.param(client.describeRing()));
            RdmaCmEvent request = server.channel.getCmEvent(100);
            if (request == null) {
                return false;
            }
            RdmaCmId incoming = request.getConnIdPriv();
            try {
                end = new Endpoint(server.channel, incoming, Endpoint.Caps.DEFAULT);
                end.id.accept(Endpoint.param(end.describeRing()));
            } catch (IOException e) {
                assertTrue(e.getMessage().contains("EMFILE"), e.getMessage());
                int unused = incoming.destroyId();
                return false;
            }
            RdmaCmEvent event = channel.getCmEvent(1000);
            return event.getEvent() == EventType.RDMA_CM_EVENT_ESTABLISHED.ordinal();
        } catch (IOException e) {
            assertTrue(e.getMessage().contains("EMFILE"), e.getMessage());
            return false;
        } finally {
            if (client != null) {
                client.close();
            }
            if (end != null) {
                end.close();
            }
            int unused = id.destroyId();
            while (channel.getCmEvent(0) != null || server.channel.getCmEvent(0) != null) {}
        }
    }

    @Test
    void atTheLimitOfOpenFilesEveryStepFailsCleanly() throws Exception {
        RdmaEventChannel channel = Verbs.backend().createEventChannel();
        try (Server server = new Server()) {
            assertTrue(attempt(channel, server));
            LeakTest.Held before = LeakTest.Held.now();
            int worked = 0;
            int failed = 0;
            for (int spare = 0; spare < MANY && worked == 0; spare++) {
                ArrayDeque<Integer> taken = takeAllDescriptors();
                try {
                    free(taken, spare);
                    if (attempt(channel, server)) {
                        worked++;
                    } else {
                        failed++;
                    }
                } finally {
                    free(taken, Integer.MAX_VALUE);
                }
                // What waited in the backlog for a descriptor comes now, and its client is gone.
                RdmaCmEvent late = server.channel.getCmEvent(20);
                if (late != null) {
                    int unused = late.getConnIdPriv().destroyId();
                }
                while (channel.getCmEvent(0) != null || server.channel.getCmEvent(0) != null) {}
                before.assertNoMoreNow(spare + " descriptors free");
            }
            assertTrue(worked == 1 && failed > 0, "worked " + worked + ", failed " + failed);
        } finally {
            int unused = channel.destroyEventChannel();
        }
    }

    @Test
    void moreThanTheDeviceHasIsRefusedWithTheLimit() throws Exception {
        IOException e = assertThrows(
                IOException.class,
                () -> Link.open(Endpoint.Caps.DEFAULT.withRecvWr(1 << 20), Endpoint.Caps.DEFAULT)
                        .close());
        assertTrue(e.getMessage().contains("max_recv_wr=1048576"), e.getMessage());
        try (Link link = Link.open()) {
            Device device = (Device) link.client.id.getVerbs();
            e = assertThrows(IOException.class, () -> {
                for (int i = 0; i < 9; i++) {
                    ByteBuffer unused = device.allocate(link.client.id, link.client.pd, 4096, Endpoint.REMOTE_WRITE)
                            .buffer();
                }
            });
            assertTrue(e.getMessage().contains("8 regions"), e.getMessage());
        }
    }
}
