package io.verbena.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages between two queue pairs of one process. */
@Timeout(30)
class MessagesTest {
    private static ByteBuffer text(String s) {
        return ByteBuffer.wrap(s.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(ByteBuffer b) {
        byte[] bytes = new byte[b.remaining()];
        ByteBuffer unused = b.get(b.position(), bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Test
    void writeWithImmCompletesAReceiveAndCarriesTheImmediate() throws Exception {
        try (Link link = Link.open()) {
            link.server.postRecv(4);
            link.client.writeImm(text("hello"), 16, 0xCAFEBABE, IbvSendWR.IBV_SEND_SIGNALED);
            IbvWC sent = link.client.reap(1).get(0);
            assertEquals(IbvWC.IbvWcStatus.IBV_WC_SUCCESS.ordinal(), sent.getStatus());
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
}
