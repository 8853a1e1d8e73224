package io.verbena.rdma.verbs;

import static com.ibm.disni.verbs.IbvWC.IbvWcStatus.IBV_WC_LOC_LEN_ERR;
import static com.ibm.disni.verbs.IbvWC.IbvWcStatus.IBV_WC_LOC_PROT_ERR;
import static com.ibm.disni.verbs.IbvWC.IbvWcStatus.IBV_WC_REM_ACCESS_ERR;
import static com.ibm.disni.verbs.IbvWC.IbvWcStatus.IBV_WC_RNR_RETRY_EXC_ERR;
import static com.ibm.disni.verbs.IbvWC.IbvWcStatus.IBV_WC_SUCCESS;
import static com.ibm.disni.verbs.IbvWC.IbvWcStatus.IBV_WC_WR_FLUSH_ERR;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a queue pair does when something is not as it should be. */
@Timeout(30)
class ErrorsTest {
    private static final int SIGNALED = IbvSendWR.IBV_SEND_SIGNALED;
    private static final ByteBuffer EIGHT = ByteBuffer.allocate(8);

    private static void assertBothFlush(Link link, int clientReceives, int serverReceives) throws IOException {
        for (IbvWC wc : link.client.reap(clientReceives)) {
            assertEquals(IBV_WC_WR_FLUSH_ERR, Endpoint.status(wc));
        }
        for (IbvWC wc : link.server.reap(serverReceives)) {
            assertEquals(IBV_WC_WR_FLUSH_ERR, Endpoint.status(wc));
        }
        assertEquals(IbvQP.IBV_QPS_ERR, link.client.qp.getState());
        assertEquals(IbvQP.IBV_QPS_ERR, link.server.qp.getState());
    }

    private static void violate(int ringOffset, int keyDelta) throws IOException {
        try (Link link = Link.open()) {
            link.client.postRecv(2);
            link.server.postRecv(3);
            link.client.remoteKey += keyDelta;
            link.client.writeImm(EIGHT, ringOffset, 9, 0);
            IbvWC wc = link.client.reap(1).get(0);
            assertEquals(IBV_WC_REM_ACCESS_ERR, Endpoint.status(wc));
            assertEquals(9, wc.getWr_id());
            assertBothFlush(link, 2, 3);
        }
    }

    @Test
    void writingBehindTheRegionIsARemoteAccessErrorAndFlushesBothSides() throws Exception {
        violate(64 * 1024 - 7, 0);
    }

    @Test
    void writingBeforeTheRegionIsARemoteAccessError() throws Exception {
        violate(-1, 0);
    }

    @Test
    void aWrongKeyIsARemoteAccessError() throws Exception {
        violate(0, 8);
    }

    @Test
    void aKeyThatWasTakenBackIsARemoteAccessError() throws Exception {
        try (Link link = Link.open()) {
            link.client.postInline(IbvSendWR.IBV_WR_RDMA_WRITE, EIGHT, 0, 1, SIGNALED);
            assertEquals(IBV_WC_SUCCESS, Endpoint.status(link.client.reap(1).get(0)));
            link.server.ring.close();
            link.client.postInline(IbvSendWR.IBV_WR_RDMA_WRITE, EIGHT, 0, 1, SIGNALED);
            assertEquals(
                    IBV_WC_REM_ACCESS_ERR, Endpoint.status(link.client.reap(1).get(0)));
        }
    }

    @Test
    void memoryWithoutRemoteWriteCantBeWritten() throws Exception {
        try (Link link = Link.open()) {
            RegisteredMemory local = ((Device) link.server.id.getVerbs())
                    .allocate(link.server.id, link.server.pd, 4096, IbvMr.IBV_ACCESS_LOCAL_WRITE);
            link.client.remoteAddress = local.mr().getAddr();
            link.client.remoteKey = local.mr().getRkey();
            link.client.writeImm(EIGHT, 0, 1, 0);
            assertEquals(
                    IBV_WC_REM_ACCESS_ERR, Endpoint.status(link.client.reap(1).get(0)));
            local.close();
        }
    }

    @Test
    void ordinaryMemoryCantBeGivenToThePeer() throws Exception {
        try (Link link = Link.open()) {
            IOException e = assertThrows(
                    IOException.class, () -> link.client.pd.regMr(ByteBuffer.allocateDirect(8), Endpoint.REMOTE_WRITE));
            assertTrue(e.getMessage().contains("Device.allocate"), e.getMessage());
        }
    }

    @Test
    void aLocalElementOutsideItsRegionIsAProtectionError() throws Exception {
        try (Link link = Link.open()) {
            link.server.postRecv(1);
            IbvSge sge = Endpoint.sge(link.client.ring.mr(), 64 * 1024 - 4, 8);
            link.client.postSges(IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM, List.of(sge), 0, 1, 0);
            assertEquals(
                    IBV_WC_LOC_PROT_ERR, Endpoint.status(link.client.reap(1).get(0)));
            assertBothFlush(link, 0, 1);
        }
    }

    @Test
    void anUnknownLocalKeyIsAProtectionError() throws Exception {
        try (Link link = Link.open()) {
            IbvSge sge = Endpoint.sge(link.client.ring.mr(), 0, 8);
            sge.setLkey(sge.getLkey() ^ 0x4000_0000);
            link.client.postSges(IbvSendWR.IBV_WR_RDMA_WRITE, List.of(sge), 0, 1, 0);
            assertEquals(
                    IBV_WC_LOC_PROT_ERR, Endpoint.status(link.client.reap(1).get(0)));
        }
    }

    @Test
    void aSendLongerThanItsReceiveIsALengthErrorAtTheReceiver() throws Exception {
        try (Link link = Link.open()) {
            link.server.postRecv(3, link.server.ring.mr(), 0, 4);
            link.client.postRecv(1);
            link.client.postInline(IbvSendWR.IBV_WR_SEND, EIGHT, 0, 1, 0);
            assertEquals(IBV_WC_LOC_LEN_ERR, Endpoint.status(link.server.reap(1).get(0)));
            assertBothFlush(link, 1, 0);
        }
    }

    @Test
    void withoutAReceiveAMessageWaitsAndAllBehindItInOrder() throws Exception {
        try (Link link = Link.open()) {
            for (int i = 0; i < 10; i++) {
                link.client.writeImm(ByteBuffer.wrap(new byte[] {(byte) i}), i, i, SIGNALED);
            }
            link.client.postInline(IbvSendWR.IBV_WR_RDMA_WRITE, ByteBuffer.wrap(new byte[] {99}), 50, 10, SIGNALED);
            assertEquals(0, link.client.pollOnce());
            assertEquals(0, link.server.pollOnce());
            assertEquals(0, link.server.ring.buffer().get(50), "a later write overtook one that waits");
            link.server.postRecv(4);
            assertEquals(4, link.client.reap(4).size());
            assertEquals(4, link.server.reap(4).size());
            link.server.postRecv(20);
            List<IbvWC> sent = link.client.reap(7);
            assertEquals(10, sent.get(6).getWr_id());
            List<IbvWC> received = link.server.reap(6);
            for (int i = 0; i < 6; i++) {
                assertEquals(4 + i, received.get(i).getImm_data());
                assertEquals(4 + i, link.server.ring.buffer().get(4 + i));
            }
            assertEquals(99, link.server.ring.buffer().get(50));
        }
    }

    @Test
    void aFiniteNumberOfRnrRetriesEndsInAnError() throws Exception {
        try (Link link = Link.open(Endpoint.Caps.DEFAULT, Endpoint.Caps.DEFAULT, (byte) 2)) {
            link.server.postRecv(1);
            link.client.writeImm(EIGHT, 0, 1, 0);
            link.client.writeImm(EIGHT, 0, 2, 0);
            link.client.writeImm(EIGHT, 0, 3, 0);
            List<IbvWC> failed = link.client.reap(2);
            assertEquals(IBV_WC_RNR_RETRY_EXC_ERR, Endpoint.status(failed.get(0)));
            assertEquals(2, failed.get(0).getWr_id());
            assertEquals(IBV_WC_WR_FLUSH_ERR, Endpoint.status(failed.get(1)));
            assertEquals(3, failed.get(1).getWr_id());
            assertEquals(IBV_WC_SUCCESS, Endpoint.status(link.server.reap(1).get(0)));
        }
    }

    @Test
    void disconnectFlushesBothSidesAndPostsAfterItAreFlushed() throws Exception {
        try (Link link = Link.open()) {
            link.client.postRecv(2);
            link.server.postRecv(2);
            link.client.writeImm(EIGHT, 0, 5, 0);
            int unused = link.client.id.disconnect();
            link.client.writeImm(EIGHT, 0, 6, 0);
            List<IbvWC> client = link.client.reap(3);
            assertTrue(client.stream().allMatch(wc -> Endpoint.status(wc) == IBV_WC_WR_FLUSH_ERR));
            RdmaCmEvent event = Endpoint.expect(link.serverChannel, EventType.RDMA_CM_EVENT_DISCONNECTED);
            assertEquals(link.server.id, event.getConnIdPriv());
            List<IbvWC> server = link.server.reap(2);
            assertEquals(5, server.get(0).getImm_data());
            assertEquals(IBV_WC_SUCCESS, Endpoint.status(server.get(0)));
            assertEquals(IBV_WC_WR_FLUSH_ERR, Endpoint.status(server.get(1)));
            event = Endpoint.expect(link.clientChannel, EventType.RDMA_CM_EVENT_DISCONNECTED);
            assertEquals(link.client.id, event.getConnIdPriv());
        }
    }
}
