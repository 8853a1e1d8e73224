package io.verbena.rdma.verbs;

import static com.ibm.disni.verbs.IbvWC.IbvWcStatus.IBV_WC_SUCCESS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCRegMr;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages between two queue pairs of one process. */
@Timeout(30)
class MessagesTest {
    private static final int SIGNALED = IbvSendWR.IBV_SEND_SIGNALED;

    @BeforeEach
    void require() throws Exception {
        RealDevice.requireWriteWithImm();
    }

    private static ByteBuffer text(String s) {
        return ByteBuffer.wrap(s.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(ByteBuffer b) {
        byte[] bytes = new byte[b.remaining()];
        ByteBuffer unused = b.get(b.position(), bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static IbvMr register(Endpoint end, ByteBuffer buffer) throws IOException {
        SVCRegMr call = end.pd.regMr(buffer, IbvMr.IBV_ACCESS_LOCAL_WRITE).execute();
        IbvMr mr = call.getMr();
        SVCRegMr unused = call.free();
        return mr;
    }

    private static byte[] random(int bytes) {
        byte[] data = new byte[bytes];
        new Random(bytes).nextBytes(data);
        return data;
    }

    @Test
    void writeWithImmCompletesAReceiveAndCarriesTheImmediate() throws Exception {
        try (Link link = Link.open()) {
            link.server.postRecv(4);
            link.client.writeImm(text("hello"), 16, 0xCAFEBABE, SIGNALED);
            IbvWC sent = link.client.reap(1).get(0);
            assertEquals(IBV_WC_SUCCESS, Endpoint.status(sent));
            assertEquals(IbvWC.IbvWcOpcode.IBV_WC_RDMA_WRITE.getOpcode(), sent.getOpcode());
            assertEquals(link.client.qp.getQp_num(), sent.getQp_num());
            IbvWC received = link.server.reap(1).get(0);
            assertEquals(IbvWC.IbvWcOpcode.IBV_WC_RECV_RDMA_WITH_IMM.getOpcode(), received.getOpcode());
            assertEquals(0xCAFEBABE, received.getImm_data());
            assertEquals(5, received.getByte_len());
            assertEquals(7, received.getWr_id());
            assertEquals("hello", text(link.server.ringBytes(16, 5)));
        }
    }

    @Test
    void messagesKeepTheirOrder() throws Exception {
        try (Link link = Link.open()) {
            int next = 0;
            for (int round = 0; round < 50; round++) {
                link.server.postRecv(100);
                for (int i = 0; i < 100; i++) {
                    link.client.writeImm(ByteBuffer.allocate(0), 0, round * 100 + i, 0);
                }
                List<IbvWC> received = link.server.reap(100);
                for (IbvWC wc : received) {
                    assertEquals(next++, wc.getImm_data());
                }
            }
        }
    }

    @Test
    void plainWriteIsThereWhenALaterWriteWithImmCompletes() throws Exception {
        try (Link link = Link.open()) {
            ByteBuffer source = ByteBuffer.allocateDirect(8192).put(0, random(8192));
            IbvMr mr = register(link.client, source);
            link.server.postRecv(1);
            link.client.postSges(
                    IbvSendWR.IBV_WR_RDMA_WRITE,
                    List.of(Endpoint.sge(mr, 0, 100), Endpoint.sge(mr, 100, 8000)),
                    64,
                    0,
                    0);
            link.client.writeImm(ByteBuffer.allocate(0), 0, 1, 0);
            assertEquals(1, link.server.reap(1).get(0).getImm_data());
            assertEquals(source.slice(0, 8100), link.server.ringBytes(64, 8100));
        }
    }

    @Test
    void largeInlineDataComesFromHeapDirectAndReadOnlyBuffers() throws Exception {
        int bytes = 1 << 20;
        byte[] data = random(bytes);
        Endpoint.Caps caps = Endpoint.Caps.DEFAULT.withRing(bytes);
        try (Link link = Link.open(caps, caps)) {
            link.server.postRecv(3);
            List<ByteBuffer> sources = List.of(
                    ByteBuffer.wrap(data),
                    ByteBuffer.allocateDirect(bytes).put(0, data),
                    ByteBuffer.wrap(data).asReadOnlyBuffer());
            for (ByteBuffer source : sources) {
                link.server.ring.buffer().put(0, new byte[bytes]);
                link.client.writeImm(source, 0, 5, SIGNALED);
                assertEquals(IBV_WC_SUCCESS, Endpoint.status(link.client.reap(1).get(0)));
                assertEquals(bytes, link.server.reap(1).get(0).getByte_len());
                byte[] received = new byte[bytes];
                ByteBuffer unused = link.server.ring.buffer().get(0, received);
                assertArrayEquals(data, received);
                assertEquals(0, source.position());
            }
        }
    }

    @Test
    void sendScattersIntoTheReceivesElements() throws Exception {
        try (Link link = Link.open()) {
            ByteBuffer target = ByteBuffer.allocateDirect(4096);
            IbvMr mr = register(link.server, target);
            link.server.postRecv(11, mr, 100, 1000);
            link.client.postInline(IbvSendWR.IBV_WR_SEND_WITH_IMM, text("over there"), 0, 77, SIGNALED);
            assertEquals(
                    IbvWC.IbvWcOpcode.IBV_WC_SEND.getOpcode(),
                    link.client.reap(1).get(0).getOpcode());
            IbvWC wc = link.server.reap(1).get(0);
            assertEquals(IbvWC.IbvWcOpcode.IBV_WC_RECV.getOpcode(), wc.getOpcode());
            assertEquals(11, wc.getWr_id());
            assertEquals(77, wc.getImm_data());
            assertEquals(10, wc.getByte_len());
            assertEquals("over there", text(target.slice(100, 10)));
        }
    }

    @Test
    void sendsGoRoundTheSendAreaManyTimes() throws Exception {
        try (Link link = Link.open()) {
            ByteBuffer target = ByteBuffer.allocateDirect(64 * 1024);
            IbvMr mr = register(link.server, target);
            for (int i = 0; i < 200; i++) {
                byte[] data = random(1 + i * 317 % 65536);
                link.server.postRecv(i, mr, 0, target.capacity());
                link.client.postInline(IbvSendWR.IBV_WR_SEND, ByteBuffer.wrap(data), 0, i, 0);
                assertEquals(data.length, link.server.reap(1).get(0).getByte_len());
                assertEquals(ByteBuffer.wrap(data), target.slice(0, data.length));
            }
        }
    }

    @Test
    void sendsWaitForRoomAndAllArrive() throws Exception {
        try (Link link = Link.open()) {
            ByteBuffer target = ByteBuffer.allocateDirect(64 * 1024);
            IbvMr mr = register(link.server, target);
            for (int i = 0; i < 20; i++) {
                link.server.postRecv(i, mr, 0, target.capacity());
            }
            for (int i = 0; i < 20; i++) {
                link.client.postInline(IbvSendWR.IBV_WR_SEND, ByteBuffer.wrap(random(20_000)), 0, i, SIGNALED);
            }
            int received = 0;
            int sent = 0;
            while (received < 20 || sent < 20) {
                received += link.server.pollOnce();
                sent += link.client.pollOnce();
            }
            assertEquals(ByteBuffer.wrap(random(20_000)), target.slice(0, 20_000));
        }
    }

    @Test
    void tooLongAMessageIsRefusedWithTheLimit() throws Exception {
        try (Link link = Link.open()) {
            ByteBuffer large = ByteBuffer.allocate(64 * 1024 + 1);
            IOException e = assertThrows(
                    IOException.class, () -> link.client.postInline(IbvSendWR.IBV_WR_SEND, large, 0, 0, 0));
            assertTrue(e.getMessage().contains("65536"), e.getMessage());
        }
    }

    @Test
    void aFullSendQueueIsRefusedAndGoesOnAfterAPoll() throws Exception {
        try (Link link = Link.open()) {
            for (int i = 0; i < 128; i++) {
                link.client.postInline(IbvSendWR.IBV_WR_RDMA_WRITE, text("x"), 0, i, SIGNALED);
            }
            IOException e = assertThrows(
                    IOException.class,
                    () -> link.client.postInline(IbvSendWR.IBV_WR_RDMA_WRITE, text("x"), 0, 0, SIGNALED));
            assertTrue(e.getMessage().contains("max_send_wr=128"), e.getMessage());
            List<IbvWC> unused = link.client.reap(128);
            link.client.postInline(IbvSendWR.IBV_WR_RDMA_WRITE, text("x"), 0, 0, SIGNALED);
        }
    }

    @Test
    void aFullReceiveQueueIsRefused() throws Exception {
        try (Link link = Link.open()) {
            link.server.postRecv(256);
            IOException e = assertThrows(IOException.class, () -> link.server.postRecv(1));
            assertTrue(e.getMessage().contains("max_recv_wr=256"), e.getMessage());
        }
    }

    @Test
    void receivesOfDifferentIdsAreUsedInOrder() throws Exception {
        try (Link link = Link.open()) {
            ByteBuffer target = ByteBuffer.allocateDirect(64);
            IbvMr mr = register(link.server, target);
            long next = 0;
            long posted = 0;
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 100; i++) {
                    link.server.postRecv(posted++, mr, 0, 64);
                }
                for (int i = 0; i < 100; i++) {
                    link.client.postInline(IbvSendWR.IBV_WR_SEND, text("m"), 0, i, 0);
                }
                for (IbvWC wc : link.server.reap(100)) {
                    assertEquals(next++, wc.getWr_id());
                }
            }
        }
    }

    @Test
    void aPeersWordCanBeRead() throws Exception {
        try (Link link = Link.open()) {
            link.server.ring.buffer().putLong(128, 0x0123456789ABCDEFL);
            ConnectionId id = (ConnectionId) link.client.id;
            assertTrue(id.canReadPeer());
            assertEquals(0x0123456789ABCDEFL, id.readPeerLong(link.client.remoteAddress + 128, link.client.remoteKey));
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> id.readPeerLong(link.client.remoteAddress + 64 * 1024, link.client.remoteKey));
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> id.readPeerLong(link.client.remoteAddress, link.client.remoteKey + 8));
        }
    }
}
