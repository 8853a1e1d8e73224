package io.verbena.rdma.verbs;

import static com.ibm.disni.verbs.IbvWC.IbvWcStatus.IBV_WC_WR_FLUSH_ERR;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvSendWR;
import io.verbena.rdma.sys.Epoll;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Arming, events, and the size of a completion queue. */
@Timeout(60)
class CompletionQueueTest {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private static Link open(boolean shared) throws IOException {
        Endpoint.Caps caps = shared ? Endpoint.Caps.DEFAULT.withSharedCompChannel() : Endpoint.Caps.DEFAULT;
        return Link.open(caps, caps);
    }

    private static boolean event(Endpoint end, int timeoutMs) throws IOException {
        boolean got = end.comp.getCqEvent(end.cq, timeoutMs);
        if (got) {
            int unused = end.cq.ackEvents(1);
        }
        return got;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anArmedQueueGivesOneEvent(boolean shared) throws Exception {
        try (Link link = open(shared)) {
            link.server.postRecv(100);
            link.client.writeImm(NOTHING, 0, 1, 0);
            assertEquals(1, link.server.reap(1).size());
            assertFalse(event(link.server, 0), "not armed, but an event came");
            link.server.arm(false);
            assertEquals(0, link.server.pollOnce());
            assertFalse(event(link.server, 20), "nothing came, but an event did");
            for (int i = 0; i < 10; i++) {
                link.client.writeImm(NOTHING, 0, i, 0);
            }
            assertTrue(event(link.server, 1000));
            assertFalse(event(link.server, 0), "one arming gave two events");
            assertEquals(10, link.server.reap(10).size());
            link.client.writeImm(NOTHING, 0, 1, 0);
            assertFalse(event(link.server, 20), "armed once, but a second event came");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theDescriptorIsReadableWhileAnEventWaits(boolean shared) throws Exception {
        try (Link link = open(shared);
                Epoll epoll = new Epoll()) {
            epoll.add(link.server.comp.getFd(), Linux.EPOLLIN);
            link.server.postRecv(10);
            for (int i = 0; i < 5; i++) {
                link.server.arm(false);
                assertEquals(0, epoll.await(0));
                link.client.writeImm(NOTHING, 0, i, 0);
                assertEquals(1, epoll.await(1000));
                assertTrue(event(link.server, 0));
                assertEquals(0, epoll.await(0));
                assertEquals(1, link.server.reap(1).size());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void solicitedOnlyWaitsForASolicitedMessage(boolean shared) throws Exception {
        try (Link link = open(shared)) {
            link.server.postRecv(10);
            link.server.arm(true);
            link.client.writeImm(NOTHING, 0, 1, 0);
            assertFalse(event(link.server, 20));
            link.client.writeImm(NOTHING, 0, 2, IbvSendWR.IBV_SEND_SOLICITED);
            assertTrue(event(link.server, 1000));
            assertEquals(2, link.server.reap(2).size());
        }
    }

    @Test
    void completionsOfOwnSendsAndFlushesGiveAnEventToo() throws Exception {
        try (Link link = open(true)) {
            link.client.arm(false);
            link.client.postInline(IbvSendWR.IBV_WR_RDMA_WRITE, NOTHING, 0, 1, IbvSendWR.IBV_SEND_SIGNALED);
            assertTrue(event(link.client, 1000));
            assertEquals(1, link.client.reap(1).size());
            link.client.postRecv(1);
            link.client.arm(false);
            int unused = link.client.id.disconnect();
            assertTrue(event(link.client, 1000));
            assertEquals(
                    IBV_WC_WR_FLUSH_ERR, Endpoint.status(link.client.reap(1).get(0)));
        }
    }

    @Test
    void thePeersEndWakesASleeper() throws Exception {
        try (Link link = open(false)) {
            link.server.postRecv(1);
            link.server.arm(false);
            int unused = link.client.id.disconnect();
            assertTrue(event(link.server, 1000));
            assertEquals(
                    IBV_WC_WR_FLUSH_ERR, Endpoint.status(link.server.reap(1).get(0)));
        }
    }

    @Test
    void overflowIsReportedAndBreaksTheQueuePair() throws Exception {
        try (Link link = Link.open(Endpoint.Caps.DEFAULT, Endpoint.Caps.DEFAULT.withCqe(16))) {
            link.server.postRecv(100);
            for (int i = 0; i < 16; i++) {
                link.client.writeImm(NOTHING, 0, i, 0);
            }
            assertEquals(16, link.server.reap(16).size());
            for (int i = 0; i < 17; i++) {
                link.client.writeImm(NOTHING, 0, i, 0);
            }
            IOException e = assertThrows(IOException.class, link.server::pollOnce);
            assertTrue(e.getMessage().contains("cqe=16"), e.getMessage());
            assertEquals(com.ibm.disni.verbs.IbvQP.IBV_QPS_ERR, link.server.qp.getState());
        }
    }

    @Test
    void noWakeUpIsLostBetweenTwoThreads() throws Exception {
        int messages = 20_000;
        try (Link link = open(false)) {
            link.server.postRecv(200);
            AtomicInteger received = new AtomicInteger();
            Thread receiver = Thread.ofPlatform().start(() -> receive(link.server, messages, received));
            for (int i = 0; i < messages; i++) {
                while (i - received.get() > 100) {
                    Thread.onSpinWait();
                }
                link.client.writeImm(NOTHING, 0, i, 0);
                if (i % 7 == 0) {
                    Thread.onSpinWait();
                }
            }
            receiver.join(20_000);
            assertEquals(messages, received.get());
        }
    }

    private static void receive(Endpoint end, int messages, AtomicInteger received) {
        try {
            while (received.get() < messages) {
                int n = end.pollOnce();
                if (n == 0) {
                    end.arm(false);
                    n = end.pollOnce();
                }
                if (n == 0 && !event(end, 5000)) {
                    return;
                }
                if (n > 0) {
                    end.postRecv(n);
                    int unused = received.addAndGet(n);
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
