package io.verbena.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a message costs at the verbs level. */
@Timeout(60)
class CostTest {
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static void exchange(Link link, SVCReqNotify arm, ByteBuffer data, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            link.server.postRecv(1);
            link.client.writeImm(data, 0, i, 0);
            if (link.server.pollOnce() != 1) {
                throw new AssertionError("message " + i + " is not there");
            }
            if (i % 64 == 0) {
                SVCReqNotify unused = arm.execute();
            }
        }
    }

    @Test
    void nothingIsAllocatedPerMessage() throws Exception {
        try (Link link = Link.open()) {
            SVCReqNotify arm = link.server.cq.reqNotification(false);
            ByteBuffer data = ByteBuffer.allocate(64);
            exchange(link, arm, data, 50_000);
            long before = THREADS.getCurrentThreadAllocatedBytes();
            int count = 50_000;
            exchange(link, arm, data, count);
            long perMessage = (THREADS.getCurrentThreadAllocatedBytes() - before) / count;
            assertEquals(0, perMessage, "bytes allocated per message");
        }
    }

    @Test
    void receivesOfOneKindCostNextToNothing() throws Exception {
        Endpoint.Caps caps = Endpoint.Caps.DEFAULT.withRecvWr(8192).withCqe(16384);
        try (Link link = Link.open(caps, caps)) {
            long start = System.nanoTime();
            link.server.postRecv(8192);
            long ns = System.nanoTime() - start;
            assertTrue(ns < 5_000_000, "posting 8192 receives took " + ns + " ns");
        }
    }

    @Test
    void largeWrites() throws Exception {
        int bytes = 64 * 1024;
        int count = 20_000;
        try (Link link = Link.open()) {
            SVCReqNotify arm = link.server.cq.reqNotification(false);
            ByteBuffer data = ByteBuffer.allocateDirect(bytes);
            exchange(link, arm, data, count);
            long start = System.nanoTime();
            exchange(link, arm, data, count);
            double seconds = (System.nanoTime() - start) / 1e9;
            System.out.printf("64 KiB RDMA WRITE WITH IMM, one thread: %.1f GB/s%n", bytes * (count / 1e9) / seconds);
        }
    }
}
