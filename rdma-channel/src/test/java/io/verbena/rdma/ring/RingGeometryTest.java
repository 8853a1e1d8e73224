package io.verbena.rdma.ring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RingGeometryTest {
    private final RingGeometry ring = new RingGeometry(16);

    @Test
    void offsetIsThePositionModuloTheRing() {
        assertEquals(0, ring.offset(0));
        assertEquals(15, ring.offset(15));
        assertEquals(0, ring.offset(16));
        assertEquals(5, ring.offset((1L << 40) + 5));
        assertEquals(15, ring.offset(Long.MAX_VALUE));
    }

    @Test
    void contiguousEndsAtTheRingsEnd() {
        assertEquals(16, ring.contiguous(32, 100));
        assertEquals(1, ring.contiguous(31, 100));
        assertEquals(3, ring.contiguous(20, 3));
        assertEquals(0, ring.contiguous(31, 0));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 3, 4097, Integer.MIN_VALUE, (1 << 30) + 1})
    void sizeThatIsNoPowerOfTwoIsRefused(int ringBytes) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> new RingGeometry(ringBytes));
        assertEquals("ringBytes=" + ringBytes + " is no power of two from 1 to 1073741824", e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void copiesGoAroundTheEnd(boolean direct) {
        ByteBuffer memory = direct ? ByteBuffer.allocateDirect(16) : ByteBuffer.allocate(16);
        memory.position(3).limit(16);
        Random random = new Random(1);
        for (long position = 1L << 33; position < (1L << 33) + 64; position++) {
            byte[] bytes = new byte[random.nextInt(17)];
            random.nextBytes(bytes);
            ByteBuffer source =
                    ByteBuffer.allocate(40).put(7, bytes).position(7).limit(7 + bytes.length);
            assertEquals(bytes.length, ring.copyIn(memory, position, source, 99));
            assertEquals(0, source.remaining());
            ByteBuffer target = ByteBuffer.allocateDirect(40).position(9).limit(9 + bytes.length);
            assertEquals(bytes.length, ring.copyOut(memory, position, target, 99));
            assertEquals(0, target.remaining());
            byte[] copied = new byte[bytes.length];
            target.get(9, copied);
            assertArrayEquals(bytes, copied);
            assertEquals(3, memory.position());
        }
    }

    @Test
    void copiesStopAtTheGivenLengthAndAtTheTargetsLimit() {
        ByteBuffer memory = ByteBuffer.allocate(16);
        ByteBuffer target = ByteBuffer.allocate(10).limit(4);
        assertEquals(3, ring.copyOut(memory, 14, target, 3));
        assertEquals(1, ring.copyOut(memory, 17, target, 8));
        assertEquals(0, ring.copyOut(memory, 18, target, 8));
        ByteBuffer source = ByteBuffer.allocate(40);
        assertEquals(16, ring.copyIn(memory, 5, source, 40));
        assertEquals(16, source.position());
    }
}
