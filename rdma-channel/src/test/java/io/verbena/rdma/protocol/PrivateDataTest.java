package io.verbena.rdma.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.verbena.rdma.protocol.PrivateData.Accept;
import io.verbena.rdma.protocol.PrivateData.Connect;
import io.verbena.rdma.protocol.PrivateData.Reject;
import io.verbena.rdma.protocol.PrivateDataException.Fault;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrivateDataTest {
    private static final RingOffer RING = new RingOffer(0xFFFF_8000_1234_5000L, 0xCAFEBABE, 18, 1024);

    private static Connect connect(String address) throws UnknownHostException {
        return new Connect(VersionRange.SUPPORTED, 0x80000001, 0xA5, RING, 65535, InetAddress.getByName(address));
    }

    private static ByteBuffer encoded(Connect connect) {
        ByteBuffer buffer = ByteBuffer.allocate(56);
        PrivateData.encode(connect, buffer);
        return buffer.flip();
    }

    private static ByteBuffer encodedAccept() {
        ByteBuffer buffer = ByteBuffer.allocate(196);
        PrivateData.encode(new Accept(1, 7, 3, RING), buffer);
        return buffer.flip();
    }

    @ParameterizedTest
    @ValueSource(strings = {"192.0.2.7", "2001:db8::17", "0.0.0.0", "::1"})
    void connectComesBack(String address) throws Exception {
        assertEquals(connect(address), PrivateData.decodeConnect(encoded(connect(address))));
    }

    @Test
    void acceptComesBack() throws Exception {
        assertEquals(new Accept(1, 7, 3, RING), PrivateData.decodeAccept(encodedAccept()));
    }

    @ParameterizedTest
    @EnumSource(value = RejectReason.class, mode = EnumSource.Mode.EXCLUDE, names = "OTHER")
    void rejectComesBack(RejectReason reason) throws Exception {
        ByteBuffer buffer = ByteBuffer.allocate(148);
        PrivateData.encodeReject(reason, buffer);
        assertEquals(PrivateData.REJECT_BYTES, buffer.position());
        Reject expected = new Reject(VersionRange.SUPPORTED, reason, reason.code());
        assertEquals(expected, PrivateData.decodeReject(buffer.flip()));
    }

    @Test
    void unknownRejectCodeIsKept() throws Exception {
        ByteBuffer buffer = ByteBuffer.allocate(12);
        PrivateData.encodeReject(RejectReason.CLOSING, buffer);
        buffer.putShort(PrivateData.REASON_AT, (short) 0x8001);
        assertEquals(
                new Reject(VersionRange.SUPPORTED, RejectReason.OTHER, 0x8001),
                PrivateData.decodeReject(buffer.flip()));
    }

    @Test
    void rejectOfAnotherVersionIsUnderstood() throws Exception {
        ByteBuffer buffer = ByteBuffer.allocate(12);
        PrivateData.encodeReject(RejectReason.VERSION, buffer);
        buffer.put(PrivateData.VERSION_MIN_AT, (byte) 3).put(PrivateData.VERSION_MAX_AT, (byte) 200);
        assertEquals(
                new VersionRange(3, 200),
                PrivateData.decodeReject(buffer.flip()).versions());
    }

    @Test
    void sizesFitTheConnectionManager() {
        assertTrue(
                PrivateData.CONNECT_BYTES <= 56 && PrivateData.ACCEPT_BYTES <= 196 && PrivateData.REJECT_BYTES <= 148);
    }

    @Test
    void paddingOrderAndPositionDoNotMatter() throws Exception {
        ByteBuffer padded =
                ByteBuffer.allocateDirect(100).order(ByteOrder.LITTLE_ENDIAN).position(5);
        PrivateData.encode(connect("192.0.2.7"), padded);
        assertEquals(5 + PrivateData.CONNECT_BYTES, padded.position());
        padded.position(5).limit(100);
        assertEquals(connect("192.0.2.7"), PrivateData.decodeConnect(padded));
        assertEquals(5, padded.position());
    }

    @Test
    void longerStructureOfALaterVersionIsTaken() throws Exception {
        ByteBuffer longer = ByteBuffer.allocate(56).put(0, encoded(connect("::1")), 0, PrivateData.CONNECT_BYTES);
        longer.put(PrivateData.LENGTH_AT, (byte) 56).put(PrivateData.VERSION_MAX_AT, (byte) 9);
        assertEquals(new VersionRange(1, 9), PrivateData.decodeConnect(longer).versions());
    }

    private static void refused(ByteBuffer connect, Fault fault, long value, long limit) {
        PrivateDataException e = assertThrows(PrivateDataException.class, () -> PrivateData.decodeConnect(connect));
        assertEquals(fault, e.fault(), e.getMessage());
        assertEquals(value, e.value(), e.getMessage());
        assertEquals(limit, e.limit(), e.getMessage());
    }

    @Test
    void everyBoundIsChecked() throws Exception {
        refused(ByteBuffer.allocate(0), Fault.TOO_SHORT, 0, 8);
        refused(encoded(connect("::1")).putInt(0, 0x4D504120), Fault.MAGIC, 0x4D504120, PrivateData.MAGIC);
        refused(encodedAccept(), Fault.KIND, 2, 1);
        refused(encoded(connect("::1")).limit(47), Fault.LENGTH, 48, 47);
        refused(put(PrivateData.LENGTH_AT, 47), Fault.LENGTH, 47, 48);
        refused(put(PrivateData.LENGTH_AT, 255), Fault.LENGTH, 255, 48);
        refused(put(PrivateData.RING_LOG2_AT, 11), Fault.RING_BYTES, 11, 12);
        refused(put(PrivateData.RING_LOG2_AT, 28), Fault.RING_BYTES, 28, 27);
        refused(encoded(connect("::1")).putInt(PrivateData.DATA_WRS_AT, 0), Fault.DATA_WRS, 0, 1);
        refused(encoded(connect("::1")).putInt(PrivateData.DATA_WRS_AT, 16384), Fault.DATA_WRS, 16384, 16383);
        refused(encoded(connect("::1")).putInt(PrivateData.DATA_WRS_AT, -1), Fault.DATA_WRS, 0xFFFFFFFFL, 16383);
        refused(encoded(connect("::1")).putShort(PrivateData.PORT_AT, (short) 0), Fault.SOURCE_PORT, 0, 1);
    }

    private static ByteBuffer put(int index, int value) throws UnknownHostException {
        return encoded(connect("::1")).put(index, (byte) value);
    }

    @Test
    void versionsAreChecked() throws Exception {
        refused(versions(0, 1), Fault.VERSION, 0, 1);
        refused(versions(2, 1), Fault.VERSION, 1, 2);
        refused(versions(2, 5), Fault.VERSION, 2, 1);
        refused(versions(2, 5).put(PrivateData.LENGTH_AT, (byte) 8), Fault.VERSION, 2, 1);
        ByteBuffer undecided = encodedAccept().put(PrivateData.VERSION_MAX_AT, (byte) 2);
        PrivateDataException e = assertThrows(PrivateDataException.class, () -> PrivateData.decodeAccept(undecided));
        assertEquals(Fault.VERSION, e.fault());
    }

    private static ByteBuffer versions(int min, int max) throws UnknownHostException {
        return put(PrivateData.VERSION_MIN_AT, min).put(PrivateData.VERSION_MAX_AT, (byte) max);
    }

    @Test
    void ringMustFitTheAddressSpace() throws Exception {
        long greatest = -(1L << 18);
        ByteBuffer last = encoded(connect("::1")).putLong(PrivateData.RING_ADDRESS_AT, greatest);
        assertEquals(greatest, PrivateData.decodeConnect(last).ring().ringAddress());
        ByteBuffer beyond = encoded(connect("::1")).putLong(PrivateData.RING_ADDRESS_AT, greatest + 1);
        refused(beyond, Fault.RING_ADDRESS, greatest + 1, greatest);
    }

    @Test
    void greatestCommonVersionIsChosen() {
        assertEquals(3, new VersionRange(1, 3).common(new VersionRange(2, 9)));
        assertEquals(0, new VersionRange(1, 1).common(new VersionRange(2, 9)));
        assertThrows(IllegalArgumentException.class, () -> new VersionRange(0, 1));
    }

    @Test
    void noiseIsRefusedByTypeOnly() throws Exception {
        Random random = new Random(42);
        byte[] good = new byte[PrivateData.CONNECT_BYTES];
        encoded(connect("::1")).get(good);
        for (int round = 0; round < 50_000; round++) {
            byte[] bytes = good.clone();
            for (int i = random.nextInt(4); i >= 0; i--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            ByteBuffer noise = ByteBuffer.wrap(bytes, 0, random.nextInt(8) == 0 ? random.nextInt(49) : 48);
            try {
                PrivateData.decodeConnect(noise).ring().terms();
            } catch (PrivateDataException e) {
                assertTrue(e.getMessage().contains("value="), e.getMessage());
            } catch (RuntimeException e) {
                fail("round=" + round, e);
            }
        }
    }
}
