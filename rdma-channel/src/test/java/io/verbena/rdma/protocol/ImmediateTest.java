package io.verbena.rdma.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ImmediateTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 4096, 1 << 27, Integer.MAX_VALUE})
    void dataCarriesItsLength(int bytes) {
        int immediate = Immediate.data(bytes);
        assertEquals(Immediate.DATA, Immediate.kind(immediate));
        assertEquals(bytes, Immediate.dataBytes(immediate));
        assertEquals(bytes, ImmediateCodec.WRITE_WITH_IMM.expectedByteLen(immediate));
        assertEquals(4, ImmediateCodec.WRITE_THEN_SEND.expectedByteLen(immediate));
    }

    @ParameterizedTest
    @CsvSource({"0,1", "1,0", "16383,8192", "16383,16383", "0,8192"})
    void creditCarriesBothCounts(int wrs, int units) {
        int immediate = Immediate.credit(wrs, units);
        assertEquals(Immediate.CREDIT, Immediate.kind(immediate));
        assertEquals(wrs, Immediate.creditWrs(immediate));
        assertEquals(units, Immediate.creditByteUnits(immediate));
    }

    @Test
    void everyFullRingAndEverySetOfReceivesFitsOneCredit() {
        for (int log2 = ProtocolLimits.MIN_RING_BYTES_LOG2; log2 <= ProtocolLimits.MAX_RING_BYTES_LOG2; log2++) {
            CreditTerms terms = CreditTerms.of(log2, ProtocolLimits.MAX_DATA_WRS);
            int units = terms.ringBytes() / terms.unitBytes();
            assertEquals(terms.ringBytes(), units * terms.unitBytes());
            int immediate = Immediate.credit(terms.dataWrs(), units);
            assertEquals(units, Immediate.creditByteUnits(immediate));
            assertEquals(terms.dataWrs(), Immediate.creditWrs(immediate));
        }
    }

    @Test
    void wireValuesNeverChange() {
        assertEquals(0x80000000, Immediate.control(Immediate.HELLO));
        assertEquals(0x90008003, Immediate.credit(2, 3));
        assertEquals(0xA0000000, Immediate.fin(false));
        assertEquals(0xA0000001, Immediate.fin(true));
        assertEquals(0xB0000000, Immediate.control(Immediate.FIN_ACK));
        assertEquals(0xC0000000, Immediate.control(Immediate.RESET));
    }

    @Test
    void noMessageIsNone() {
        for (int kind = Immediate.HELLO; kind <= Immediate.RESET; kind++) {
            assertNotEquals(Immediate.NONE, Immediate.control(kind));
            assertEquals(0, ImmediateCodec.WRITE_WITH_IMM.expectedByteLen(Immediate.control(kind)));
        }
    }

    @Test
    void descriptionsNameTheKind() {
        assertEquals("DATA[64]", Immediate.describe(Immediate.data(64)));
        assertEquals("CREDIT[wrs=2,units=3]", Immediate.describe(Immediate.credit(2, 3)));
        assertEquals("FIN[CLOSE]", Immediate.describe(Immediate.fin(true)));
        assertEquals("kind7[0x5]", Immediate.describe(0xF0000005));
    }
}
