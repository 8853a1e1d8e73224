package io.verbena.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Limits, memory, posting, completions, device events and leaks of a real device. */
@Timeout(120)
class RealDeviceTest {
    private static final int SIGNALED = IbvSendWR.IBV_SEND_SIGNALED;
    private static final int SUCCESS = IbvWC.IbvWcStatus.IBV_WC_SUCCESS.ordinal();

    @BeforeEach
    void require() {
        RealDevice.require();
    }

    @Test
    void theDeviceTellsItsLimits() throws Exception {
        try (Link link = Link.open()) {
            Device device = (Device) link.client.id.getVerbs();
            assertTrue(device.maxQpWr() >= 1024, "max_qp_wr " + device.maxQpWr());
            assertTrue(device.maxCqe() >= 1024, "max_cqe " + device.maxCqe());
            assertTrue(device.maxInlineData() >= 0 && device.maxInlineData() < 4096);
            assertTrue(device.transport() != DeviceTransport.SOFT);
            assertEquals(device.transport() != DeviceTransport.IWARP, device.hasWriteWithImm());
            System.out.printf(
                    "%s: %s, max_qp_wr %d, max_cqe %d, inline %d%n",
                    device, device.transport(), device.maxQpWr(), device.maxCqe(), device.maxInlineData());
        }
    }

    @Test
    void rdmaResourceShowsTheQueuePairsOfThisJvm() throws Exception {
        try (Link link = Link.open()) {
            List<String> qps = RealDevice.run("rdma", "resource", "show", "qp");
            for (Endpoint end : List.of(link.client, link.server)) {
                String lqpn = "lqpn " + end.qp.getQp_num() + " ";
                String line =
                        qps.stream().filter(qp -> qp.contains(lqpn)).findFirst().orElseThrow();
                // The kernel notes the thread that made the queue pair, not its process.
                String tid = line.replaceFirst(".* pid (\\d+) .*", "$1");
                assertTrue(Files.exists(Path.of("/proc/self/task", tid)), line);
                assertTrue(line.contains("state RTS"), line);
            }
        }
    }

    @Test
    void writeThenSendCarriesBytesAndAnImmediateOfOurOwn() throws Exception {
        try (Link link = Link.open()) {
            ByteBuffer data = link.client.ring.buffer();
            for (int i = 0; i < 8000; i++) {
                data.put(i, (byte) (i * 7));
            }
            link.server.postRecv(9, link.server.ring.mr(), 16_000, 4);
            link.client.postSges(
                    IbvSendWR.IBV_WR_RDMA_WRITE, List.of(Endpoint.sge(link.client.ring.mr(), 0, 8000)), 1000, 1, 0);
            data.putInt(12_000, 0xCAFE);
            link.client.postSges(
                    IbvSendWR.IBV_WR_SEND, List.of(Endpoint.sge(link.client.ring.mr(), 12_000, 4)), 0, 2, SIGNALED);
            IbvWC received = link.server.reap(1).get(0);
            assertEquals(SUCCESS, received.getStatus());
            assertEquals(4, received.getByte_len());
            assertEquals(9, received.getWr_id());
            assertEquals(0xCAFE, link.server.ring.buffer().getInt(16_000));
            assertEquals(data.slice(0, 8000), link.server.ringBytes(1000, 8000));
            assertEquals(2, link.client.reap(1).get(0).getWr_id());
        }
    }

    @Test
    void aMessageOverTheInlineLimitIsRefusedWithTheLimit() throws Exception {
        try (Link link = Link.open()) {
            int limit = ((Device) link.client.id.getVerbs()).maxInlineData();
            var tooLong = ByteBuffer.allocate(4096);
            var e = assertThrows(
                    IOException.class, () -> link.client.postInline(IbvSendWR.IBV_WR_RDMA_WRITE, tooLong, 0, 1, 0));
            assertTrue(e.getMessage().contains("max_inline_data="), e.getMessage());
            ByteBuffer longest = ByteBuffer.allocate(limit);
            link.client.postInline(IbvSendWR.IBV_WR_RDMA_WRITE, longest, 0, 2, SIGNALED);
            assertEquals(SUCCESS, link.client.reap(1).get(0).getStatus());
        }
    }

    @Test
    void aWrongKeyEndsTheConnection() throws Exception {
        try (Link link = Link.open()) {
            link.client.remoteKey ^= 0x5A5A00;
            link.client.postInline(IbvSendWR.IBV_WR_RDMA_WRITE, ByteBuffer.allocate(8), 0, 5, SIGNALED);
            int status = link.client.reap(1).get(0).getStatus();
            if (RealDevice.transport() == DeviceTransport.IWARP) {
                // A write completes there when it is sent; only the end of the connection tells.
                var unused = Endpoint.expect(link.clientChannel, EventType.RDMA_CM_EVENT_DISCONNECTED);
            } else {
                assertEquals(IbvWC.IbvWcStatus.IBV_WC_REM_ACCESS_ERR.ordinal(), status);
            }
        }
    }

    @Test
    void twoQueuesOnOneChannelKeepTheirEventsApart() throws Exception {
        try (Link link = Link.open()) {
            IbvCQ other = link.client.id.getVerbs().createCQ(link.client.comp, 16, 0);
            assertFalse(link.client.comp.getCqEvent(other, 0));
            link.client.arm(false);
            link.client.postInline(IbvSendWR.IBV_WR_RDMA_WRITE, ByteBuffer.allocate(0), 0, 5, SIGNALED);
            assertFalse(link.client.comp.getCqEvent(other, 300), "the event was the other queue's");
            assertTrue(link.client.comp.getCqEvent(link.client.cq, 5_000));
            assertEquals(0, link.client.cq.ackEvents(1));
            assertThrows(IOException.class, () -> link.client.cq.ackEvents(1));
            assertEquals(0, other.destroyCQ());
            assertEquals(0, other.destroyCQ());
        }
    }

    @Test
    void anUnackedEventDoesNotHangTheDestruction() throws Exception {
        Link link = Link.open();
        link.client.arm(false);
        link.client.postInline(IbvSendWR.IBV_WR_RDMA_WRITE, ByteBuffer.allocate(0), 0, 5, SIGNALED);
        assertTrue(link.client.comp.getCqEvent(link.client.cq, 5_000));
        link.close();
        assertThrows(IOException.class, () -> link.client.pollOnce());
        assertThrows(IOException.class, () -> link.client.postRecv(1));
    }

    @Test
    void closedMemoryThrowsAndNeverCrashes() throws Exception {
        Link link = Link.open();
        ByteBuffer memory = link.client.ring.buffer();
        memory.put(5, (byte) 1);
        link.close();
        link.client.ring.close();
        assertThrows(IllegalStateException.class, () -> memory.get(5));
    }

    @Test
    void postAndPollAllocateNothing() throws Exception {
        try (Link link = Link.open()) {
            ByteBuffer data = ByteBuffer.allocate(16);
            for (int i = 0; i < 20_000; i++) {
                postAndReap(link.client, data);
            }
            var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 10_000; i++) {
                postAndReap(link.client, data);
            }
            long perMessage = (threads.getCurrentThreadAllocatedBytes() - before) / 10_000;
            assertTrue(perMessage < 1, perMessage + " bytes a message");
        }
    }

    private static void postAndReap(Endpoint end, ByteBuffer data) throws IOException {
        end.postInline(IbvSendWR.IBV_WR_RDMA_WRITE, data, 0, 1, SIGNALED);
        while (end.pollOnce() == 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void openAndCloseLeaveNothingBehind() throws Exception {
        Link.open().close();
        List<String> before = objects();
        long fds = fds();
        for (int i = 0; i < 200; i++) {
            Link.open().close();
        }
        assertEquals(before, objects());
        assertEquals(fds, fds());
    }

    private static List<String> objects() throws Exception {
        return RealDevice.run("rdma", "resource", "show").stream()
                .map(line -> line.replaceAll("\\bpd \\d+", "pd"))
                .toList();
    }

    /** Descriptors of event and completion channels; the JVM's own come and go. */
    private static long fds() throws IOException {
        try (var all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(RealDeviceTest::isOfRdma).count();
        }
    }

    private static boolean isOfRdma(Path fd) {
        try {
            return Files.readSymbolicLink(fd).toString().contains("infiniband");
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    @Test
    void aChildProcessDoesNotDisturbRegisteredMemory() throws Exception {
        try (Link link = Link.open()) {
            for (int i = 0; i < 5; i++) {
                assertFalse(RealDevice.run("true").iterator().hasNext());
                link.client.ring.buffer().putInt(0, i);
                link.server.postRecv(i, link.server.ring.mr(), 64, 4);
                link.client.postSges(
                        IbvSendWR.IBV_WR_SEND, List.of(Endpoint.sge(link.client.ring.mr(), 0, 4)), 0, i, SIGNALED);
                assertEquals(i, link.server.reap(1).get(0).getWr_id());
                assertEquals(i, link.server.ring.buffer().getInt(64));
                assertEquals(SUCCESS, link.client.reap(1).get(0).getStatus());
            }
        }
    }

    @Test
    void aLinkThatGoesDownIsADeviceEvent() throws Exception {
        RealDevice.requireUml();
        try (Link link = Link.open()) {
            var events = (DeviceEventSource) link.client.id.getVerbs();
            while (events.pollDeviceEvent() != null) {}
            RealDevice.run("ip", "link", "set", "d0", "down");
            try {
                assertEquals(new DeviceEvent(DeviceEvent.Kind.PORT_DOWN, 1, 0), await(events));
            } finally {
                RealDevice.run("ip", "link", "set", "d0", "up");
                RealDevice.run("ip", "-6", "addr", "replace", "fd77::1/64", "dev", "d0", "nodad");
            }
            assertEquals(new DeviceEvent(DeviceEvent.Kind.PORT_ACTIVE, 1, 0), await(events));
        }
    }

    /** The next event that is about a port. */
    private static DeviceEvent await(DeviceEventSource events) throws Exception {
        long deadlineNs = System.nanoTime() + 10_000_000_000L;
        while (System.nanoTime() < deadlineNs) {
            DeviceEvent event = events.pollDeviceEvent();
            if (event != null && event.port() != 0) {
                return event;
            }
            Thread.sleep(5);
        }
        throw new AssertionError("no event within 10 s");
    }

    @Test
    void exhaustedLockedMemoryIsAnErrorWithLimitAndRemedy() throws Exception {
        RealDevice.requireUml();
        // Root without CAP_IPC_LOCK is held to the limit, as any user is.
        List<String> command = List.of(
                "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "prlimit", "--memlock=65536:65536");
        try (Jvm jvm = new Jvm(command, MemlockPeer.class)) {
            String line = jvm.line();
            assertNotNull(line);
            assertTrue(line.contains("ibv_reg_mr(1048576 bytes"), line);
            assertTrue(line.contains("65536 bytes"), line);
            assertTrue(line.contains("ulimit -l"), line);
        }
    }
}
