package io.verbena.rdma.backend.soft;

import static com.ibm.disni.verbs.IbvWC.IbvWcStatus.IBV_WC_REM_ACCESS_ERR;
import static com.ibm.disni.verbs.IbvWC.IbvWcStatus.IBV_WC_SUCCESS;
import static com.ibm.disni.verbs.IbvWC.IbvWcStatus.IBV_WC_WR_FLUSH_ERR;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.EventFd;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A peer that does what it likes with the socket and the memory it was given: an honest process must not suffer. */
@Timeout(60)
class HostilePeerTest {
    private static final byte CANARY = 0x5A;

    private static long fds() throws IOException {
        try (Stream<Path> list = Files.list(Path.of("/proc/self/fd"))) {
            return list.count();
        }
    }

    /** An honest connection still works. */
    private static void assertServes(SoftServer server) throws IOException {
        server.drop();
        try (RawClient honest = new RawClient(server.port())) {
            honest.connect();
            server.accept();
            honest.readAccept();
            while (server.channel.getCmEvent(100) == null) {}
            server.postRecv(1);
            long descriptor = WireDescriptor.of(0, 8, WireDescriptor.WRITE_IMM, false, 3, 42);
            Shared.setRelease(honest.theirBlock(), BlockDescriptor.RING, descriptor);
            server.pollUntil(IBV_WC_SUCCESS);
            assertEquals(42, server.wcs[0].getImm_data());
            server.drop();
        }
        while (server.channel.getCmEvent(0) != null) {}
    }

    private static void assertRefused(SoftServer server, Handshake request, int... fds) throws IOException {
        long before = fds();
        try (RawClient client = new RawClient(server.port())) {
            assertTrue(client.send(request.encode(), fds) > 0);
            server.prepare();
            assertThrows(IOException.class, () -> server.id.accept(null));
            server.drop();
        }
        assertServes(server);
        assertTrue(fds() <= before, before + " descriptors before, now " + fds());
    }

    @Test
    void memoryThatIsNotASealedMemfdOfTheRightSizeIsNotMapped() throws Exception {
        try (SoftServer server = new SoftServer();
                RawClient other = new RawClient(server.port());
                EventFd event = new EventFd()) {
            assertServes(server);
            Handshake request = other.request();
            int unsealed = RawClient.unsealed(Segment.BYTES);
            assertRefused(server, request, unsealed);
            int small = RawClient.seal(RawClient.unsealed(4096));
            assertRefused(server, request, small);
            assertRefused(server, request, event.fd());
            assertRefused(server, request, other.fd);
            assertRefused(server, request);
            assertRefused(server, request, other.own.fd, other.own.fd);
            UnixSocket.closeAll(new int[] {unsealed, small});
        }
    }

    @Test
    void aBlockOutsideTheSegmentIsNotUsed() throws Exception {
        try (SoftServer server = new SoftServer();
                RawClient other = new RawClient(server.port())) {
            assertServes(server);
            long bytes = BlockDescriptor.bytes(RawClient.RING_ENTRIES);
            for (long offset : new long[] {Segment.BYTES - bytes + 4096, -4096, Long.MIN_VALUE, 8, Segment.BYTES}) {
                other.blockOffset = offset;
                assertRefused(server, other.request(), other.own.fd);
            }
        }
    }

    @Test
    void nonsenseInPlaceOfARequestIsRefused() throws Exception {
        Random random = new Random(42);
        try (SoftServer server = new SoftServer();
                RawClient template = new RawClient(server.port())) {
            assertServes(server);
            long before = fds();
            for (int i = 0; i < 300; i++) {
                byte[] message = template.request().encode();
                if (i % 3 == 0) {
                    message = new byte[1 + random.nextInt(600)];
                }
                for (int j = 0; j < 1 + i % 8; j++) {
                    message[random.nextInt(message.length)] = (byte) random.nextInt();
                }
                try (RawClient client = new RawClient(server.port())) {
                    int[] fds = i % 2 == 0 ? new int[0] : new int[] {client.own.fd, client.own.fd};
                    long unused = client.send(i % 10 == 9 ? new byte[0] : message, fds);
                    var event = server.channel.getCmEvent(2);
                    if (event != null) {
                        int ignored = event.getConnIdPriv().destroyId();
                    }
                }
            }
            while (server.channel.getCmEvent(10) != null) {}
            assertServes(server);
            assertTrue(fds() <= before, before + " descriptors before, now " + fds());
        }
    }

    @Test
    void nonsenseInPlaceOfReadyEndsTheConnection() throws Exception {
        try (SoftServer server = new SoftServer();
                RawClient client = new RawClient(server.port())) {
            client.connect();
            server.accept();
            long unused = client.send(new byte[] {1, 2, 3});
            assertEquals(
                    -Errno.EPROTO,
                    server.expect(EventType.RDMA_CM_EVENT_REJECTED).getStatus());
            assertEquals(IbvQP.IBV_QPS_ERR, server.qp.getState());
            assertServes(server);
        }
    }

    @Test
    void memoryGivenToThePeerCantBeShrunkOrGrown() throws Exception {
        try (SoftServer server = new SoftServer();
                RawClient client = new RawClient(server.port())) {
            client.connect();
            server.accept();
            client.readAccept();
            assertEquals(-Errno.EPERM, Linux.ftruncate(client.theirFd, 0));
            assertEquals(-Errno.EPERM, Linux.ftruncate(client.theirFd, 2 * Segment.BYTES));
            assertEquals(-Errno.EPERM, Linux.fcntl(client.theirFd, Linux.F_ADD_SEALS, 0x10));
        }
    }

    @Test
    void keysThatPointElsewhereNeverLeadOutsideTheRegion() throws Exception {
        Random random = new Random(7);
        int rkey = 0x100;
        for (int i = 0; i < 60; i++) {
            try (SoftServer server = new SoftServer();
                    RawClient client = new RawClient(server.port())) {
                client.fillOwn(CANARY);
                Shared.setRelease(client.ownBlock(), BlockDescriptor.POSTED, 100);
                client.connect();
                server.accept();
                long address = i % 4 == 0 ? random.nextLong() : 0x10000;
                long length = i % 4 == 1 ? random.nextLong() : 4096;
                long segment = i % 4 == 2 ? random.nextLong() : client.own.id;
                long offset = i % 4 == 3 ? random.nextLong() : 4096;
                client.putKey(0, rkey, address, length, segment, offset);
                server.write(IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM, ByteBuffer.allocate(64), 0x10000 + 4096 - 32, rkey);
                server.pollUntil(IBV_WC_REM_ACCESS_ERR);
                assertTrue(client.untouched(0, client.blockOffset, CANARY), "case " + i);
                assertEquals(0, Shared.getOpaque(client.ownBlock(), BlockDescriptor.RING));
            }
        }
    }

    @Test
    void countersThatRunBackOrAheadEndTheConnection() throws Exception {
        for (long posted : new long[] {RawClient.RING_ENTRIES + 1, Long.MAX_VALUE, -1, Long.MIN_VALUE}) {
            try (SoftServer server = new SoftServer();
                    RawClient client = new RawClient(server.port())) {
                client.connect();
                server.accept();
                Shared.setRelease(client.ownBlock(), BlockDescriptor.POSTED, posted);
                server.write(IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM, ByteBuffer.allocate(0), 0, 0);
                assertEquals(IbvQP.IBV_QPS_ERR, server.qp.getState(), "posted=" + posted);
            }
        }
    }

    @Test
    void descriptorsWithoutAReceiveOrOfNoKindEndTheConnection() throws Exception {
        long[] bad = {
            WireDescriptor.of(0, 8, 0, false, 0, 0),
            WireDescriptor.of(0, 8, 15, false, 0, 0),
            WireDescriptor.of(0, 8, WireDescriptor.SEND, false, BlockDescriptor.SEND_AREA_BYTES + 1, 0),
            -1
        };
        for (long descriptor : bad) {
            try (SoftServer server = new SoftServer();
                    RawClient client = new RawClient(server.port())) {
                client.connect();
                server.accept();
                client.readAccept();
                server.postRecv(2);
                Shared.setRelease(client.theirBlock(), BlockDescriptor.RING, descriptor);
                server.pollUntil(IBV_WC_WR_FLUSH_ERR);
                assertEquals(IbvQP.IBV_QPS_ERR, server.qp.getState());
            }
        }
        try (SoftServer server = new SoftServer();
                RawClient client = new RawClient(server.port())) {
            client.connect();
            server.accept();
            client.readAccept();
            long good = WireDescriptor.of(0, 8, WireDescriptor.WRITE_IMM, false, 0, 0);
            Shared.setRelease(client.theirBlock(), BlockDescriptor.RING, good);
            assertEquals(0, server.poll());
            assertEquals(IbvQP.IBV_QPS_ERR, server.qp.getState(), "no receive was posted");
        }
    }

    @Test
    void nonsenseInEveryWordOfBothSidesMemoryWhileItIsUsed() throws Exception {
        for (int seed = 0; seed < 20; seed++) {
            try (SoftServer server = new SoftServer();
                    SoftServer bystander = new SoftServer();
                    RawClient honest = new RawClient(bystander.port());
                    RawClient client = new RawClient(server.port())) {
                honest.connect();
                bystander.accept();
                ByteBuffer unused = bystander.ring.buffer().put(0, canaries());
                client.connect();
                server.accept();
                client.readAccept();
                client.putKey(0, 0x100, 0x10000, 4096, client.own.id, 4096);
                scribbleWhileInUse(server, client, seed);
                assertEquals(ByteBuffer.wrap(canaries()), bystander.ring.buffer(), "seed " + seed);
            }
        }
    }

    private static byte[] canaries() {
        byte[] bytes = new byte[SoftServer.RING_BYTES];
        java.util.Arrays.fill(bytes, CANARY);
        return bytes;
    }

    private static void scribbleWhileInUse(SoftServer server, RawClient client, int seed) throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        Thread scribbler = Thread.ofPlatform().start(() -> scribble(client, seed, stop));
        ByteBuffer data = ByteBuffer.allocate(256);
        long end = System.nanoTime() + 50_000_000;
        while (System.nanoTime() < end) {
            use(server, data);
        }
        stop.set(true);
        scribbler.join();
    }

    private static void use(SoftServer server, ByteBuffer data) throws IOException {
        try {
            server.postRecv(1);
        } catch (IOException e) {
            // Full: nothing came.
        }
        try {
            server.write(IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM, data, 0x10000, 0x100);
            server.write(IbvSendWR.IBV_WR_SEND, data, 0, 0);
        } catch (IOException e) {
            // Full: the peer takes nothing.
        }
        server.arm();
        int unused = server.poll();
        boolean ignored = server.comp.getCqEvent(server.cq, 0);
    }

    private static void scribble(RawClient client, int seed, AtomicBoolean stop) {
        Random random = new Random(seed);
        List<MemorySegment> targets = new ArrayList<>(List.of(client.theirBlock(), client.ownBlock()));
        while (!stop.get()) {
            MemorySegment block = targets.get(random.nextInt(2));
            // Mostly the words with a meaning, sometimes anything; small numbers get further than random ones.
            long at = random.nextInt(4) == 0 ? random.nextLong(block.byteSize() >> 3) << 3 : random.nextInt(0x100) << 3;
            long value = random.nextBoolean() ? random.nextLong() : random.nextInt(512);
            Shared.setRelease(block, at, value);
        }
    }

    @Test
    void memoryPunchedUnderUsReadsAsZeros() throws Exception {
        try (SoftServer server = new SoftServer();
                RawClient client = new RawClient(server.port())) {
            client.connect();
            server.accept();
            client.readAccept();
            client.putKey(0, 0x100, 0x10000, 4096, client.own.id, 4096);
            for (int i = 0; i < 200; i++) {
                client.theirs.punch(0, Segment.BYTES);
                client.own.punch(0, Segment.BYTES);
                client.putKey(0, 0x100, 0x10000, 4096, client.own.id, 4096);
                use(server, ByteBuffer.allocate(256));
            }
        }
    }

    @Test
    void aFloodOfWakeUpsEndsTheConnection() throws Exception {
        try (SoftServer server = new SoftServer();
                RawClient client = new RawClient(server.port())) {
            client.connect();
            server.accept();
            client.readAccept();
            var unused = server.expect(EventType.RDMA_CM_EVENT_ESTABLISHED);
            server.postRecv(1);
            long sent = 1;
            int count = 0;
            while (sent > 0 && count++ < 100_000) {
                sent = client.send(new byte[] {HandshakeDescriptor.WAKE});
            }
            for (int i = 0; i < 100 && server.qp.getState() != IbvQP.IBV_QPS_ERR; i++) {
                server.arm();
                boolean ignored = server.comp.getCqEvent(server.cq, 1000);
            }
            server.pollUntil(IBV_WC_WR_FLUSH_ERR);
            assertEquals(IbvQP.IBV_QPS_ERR, server.qp.getState());
            assertServes(server);
        }
    }

    @Test
    void aPeerThatNeverReadsItsSocketBlocksNobody() throws Exception {
        try (SoftServer server = new SoftServer();
                RawClient client = new RawClient(server.port())) {
            client.connect();
            server.accept();
            client.readAccept();
            for (int i = 1; i < 20_000; i++) {
                Shared.setRelease(client.ownBlock(), BlockDescriptor.POSTED, i);
                Shared.setOpaque(client.ownBlock(), BlockDescriptor.ARMED, 2L * i);
                server.write(IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM, ByteBuffer.allocate(0), 0, 0);
                assertEquals(1, server.poll());
                assertEquals(0, server.wcs[0].getStatus());
            }
        }
    }

    @Test
    void connectionsWithoutARequestDontKeepOthersOut() throws Exception {
        try (SoftServer server = new SoftServer()) {
            List<RawClient> silent = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                silent.add(new RawClient(server.port()));
            }
            assertServes(server);
            silent.forEach(RawClient::close);
        }
    }

    @Test
    void aClientThatClaimsAnAddressOfAnotherHostIsRefused() throws Exception {
        try (SoftServer server = new SoftServer();
                RawClient client = new RawClient(server.port())) {
            Handshake r = client.request();
            Handshake claim = new Handshake(
                    r.type(),
                    r.idHigh(),
                    r.idLow(),
                    new java.net.InetSocketAddress("192.0.2.1", 5),
                    r.destination(),
                    r.qpNum(),
                    r.ringEntries(),
                    r.blockSegment(),
                    r.blockOffset(),
                    r.segments(),
                    0,
                    r.privateData());
            assertTrue(client.send(claim.encode(), client.own.fd) > 0);
            assertEquals(null, server.channel.getCmEvent(100));
            UnixSocket.Received answer = UnixSocket.receive(client.fd, HandshakeDescriptor.MAX_BYTES, 1);
            assertEquals(-Errno.EADDRNOTAVAIL, Handshake.decode(answer.data()).status());
        }
    }
}
