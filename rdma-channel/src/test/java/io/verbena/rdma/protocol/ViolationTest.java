package io.verbena.rdma.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.verbena.rdma.protocol.ProtocolViolation.Rule;
import java.util.EnumSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ViolationTest {
    private static final CreditTerms TERMS = CreditTerms.of(12, 3);
    private static final SendLimits SOFT =
            new SendLimits(64, 16, SendLimits.INLINE_ANY, 0, ImmediateCodec.WRITE_WITH_IMM);

    private final StreamProtocol core = StreamProtocol.client(TERMS, TERMS, SOFT);

    private void take(int... immediates) {
        for (int immediate : immediates) {
            int byteLen = ImmediateCodec.WRITE_WITH_IMM.expectedByteLen(immediate);
            core.receive().onImmediate(immediate, byteLen);
            assertNull(core.receive().violation());
        }
    }

    private void violates(Rule rule, long value, long limit, int immediate) {
        violates(rule, value, limit, immediate, ImmediateCodec.WRITE_WITH_IMM.expectedByteLen(immediate));
    }

    private void violates(Rule rule, long value, long limit, int immediate, int byteLen) {
        int events = core.receive().onImmediate(immediate, byteLen);
        assertTrue((events & ReceiveHalf.VIOLATED) != 0);
        assertEquals(new ProtocolViolation(rule, value, limit), core.receive().violation());
        assertEquals(ReceiveState.RESET, core.receive().state());
        assertTrue(core.send().writeEnd() != WriteEnd.NONE);
        assertEquals(0, core.send().plan(1));
        assertEquals(0, core.receive().onImmediate(immediate, byteLen), "nothing is taken any more");
    }

    @Test
    void byteLenMustBeTheLengthOfTheData() {
        violates(Rule.BYTE_LEN, 63, 64, Immediate.data(64), 63);
    }

    @Test
    void byteLenOfControlMustBeZero() {
        violates(Rule.BYTE_LEN, 0xFFFFFFFFL, 0, Immediate.fin(false), -1);
    }

    @Test
    void dataMustNotBeEmpty() {
        violates(Rule.EMPTY_DATA, 0, 1, 0);
    }

    @Test
    void dataMustFitTheLentBytes() {
        take(Immediate.data(4000));
        violates(Rule.BYTE_CREDIT, 97, 96, Immediate.data(97));
    }

    @Test
    void greatestLengthIsRefused() {
        violates(Rule.BYTE_CREDIT, Integer.MAX_VALUE, 4096, Integer.MAX_VALUE);
    }

    @Test
    void dataMustHaveAReceive() {
        take(Immediate.data(1), Immediate.data(1), Immediate.data(1));
        violates(Rule.WR_CREDIT, 4, 3, Immediate.data(1));
    }

    @Test
    void dataMustNotWrap() {
        take(Immediate.data(4000));
        core.receive().consume(4000);
        core.receive().takeReply();
        violates(Rule.WRAP, 97, 96, Immediate.data(97));
    }

    @Test
    void nothingButCloseFollowsFin() {
        take(Immediate.fin(false));
        violates(Rule.AFTER_FIN, 5, 0, Immediate.data(5));
    }

    @Test
    void finComesOnce() {
        take(Immediate.fin(false));
        violates(Rule.AFTER_FIN, Integer.toUnsignedLong(Immediate.fin(false)), 0, Immediate.fin(false));
    }

    @Test
    void nothingButFinAckFollowsClose() {
        take(Immediate.fin(false), Immediate.fin(true));
        int reset = Immediate.control(Immediate.RESET);
        violates(Rule.AFTER_CLOSE, Integer.toUnsignedLong(reset), Immediate.FIN_ACK, reset);
    }

    @Test
    void finAckNeedsFin() {
        violates(Rule.FIN_ACK, 1, 0, Immediate.control(Immediate.FIN_ACK));
    }

    @Test
    void finAckComesOnce() {
        core.send().commitHello();
        core.send().commitFin(false);
        take(Immediate.control(Immediate.FIN_ACK));
        violates(Rule.FIN_ACK, 2, 1, Immediate.control(Immediate.FIN_ACK));
    }

    @Test
    void creditMustNotBeEmpty() {
        violates(Rule.EMPTY_CREDIT, 0, 1, Immediate.credit(0, 0));
    }

    @Test
    void creditMustNotExceedWhatWasSent() {
        core.send().commitHello();
        core.send().plan(10);
        core.send().commit(10);
        violates(Rule.CREDITED_BYTES, 11, 10, Immediate.credit(1, 11));
    }

    @Test
    void creditMustNotExceedTheReceivesUsed() {
        core.send().commitHello();
        core.send().plan(10);
        core.send().commit(10);
        violates(Rule.CREDITED_WRS, 2, 1, Immediate.credit(2, 10));
    }

    @Test
    void clientGetsNoHello() {
        int hello = Immediate.control(Immediate.HELLO);
        violates(Rule.HELLO_ONCE, Integer.toUnsignedLong(hello), 0, hello);
    }

    @Test
    void serverGetsHelloFirst() {
        ReceiveHalf server = StreamProtocol.server(TERMS, TERMS, SOFT).receive();
        server.onImmediate(Immediate.data(1), 1);
        assertEquals(new ProtocolViolation(Rule.HELLO_FIRST, 1, 0), server.violation());
        assertEquals(ReadEnd.RESET, server.readEnd());
    }

    @Test
    void unknownKindsAndPayloadsAreRefused() {
        EnumSet<Rule> seen = EnumSet.noneOf(Rule.class);
        for (int immediate : new int[] {
            0xD0000000,
            0xE0000000,
            0xF0000000,
            0xA0000002,
            0xC0000001,
            0xB0000010 // RESET, FIN, FIN_ACK with bits that must be 0
        }) {
            ReceiveHalf receive = StreamProtocol.client(TERMS, TERMS, SOFT).receive();
            receive.onImmediate(immediate, 0);
            assertNotNull(receive.violation(), Immediate.describe(immediate));
            seen.add(receive.violation().rule());
        }
        assertEquals(EnumSet.of(Rule.UNKNOWN_KIND, Rule.PAYLOAD), seen);
    }

    @Test
    void dataBeforeAViolationIsStillRead() {
        take(Immediate.data(7));
        violates(Rule.EMPTY_CREDIT, 0, 1, Immediate.credit(0, 0));
        assertEquals(ReadEnd.NONE, core.receive().readEnd());
        core.receive().consume(7);
        assertEquals(ReadEnd.RESET, core.receive().readEnd());
    }

    @Test
    void nonsenseNeverThrowsAndNeverLeavesTheRing() {
        EnumSet<Rule> seen = EnumSet.noneOf(Rule.class);
        for (int seed = 0; seed < 20_000; seed++) {
            Random random = new Random(seed);
            StreamProtocol victim = random.nextBoolean()
                    ? StreamProtocol.client(TERMS, TERMS, SOFT)
                    : StreamProtocol.server(TERMS, TERMS, SOFT);
            ReceiveHalf receive = victim.receive();
            for (int i = 0; i < 40 && receive.violation() == null; i++) {
                int immediate = nonsense(random);
                int good = ImmediateCodec.WRITE_WITH_IMM.expectedByteLen(immediate);
                receive.onImmediate(immediate, random.nextInt(20) == 0 ? random.nextInt() : good);
                int readable = receive.readableBytes();
                assertTrue(readable >= 0 && readable <= TERMS.ringBytes(), "seed=" + seed);
                receive.consume(readable == 0 ? 0 : random.nextInt(readable + 1));
                receive.takeReply();
                assertTrue(victim.send().creditBytes() <= TERMS.ringBytes(), "seed=" + seed);
                assertTrue(victim.send().creditWrs() <= TERMS.dataWrs(), "seed=" + seed);
            }
            if (receive.violation() != null) {
                seen.add(receive.violation().rule());
            }
        }
        assertTrue(seen.size() >= 12, "only " + seen);
    }

    private static int nonsense(Random random) {
        return switch (random.nextInt(8)) {
            case 0 -> random.nextInt();
            case 1 -> Immediate.control(random.nextInt(8), random.nextInt(4));
            case 2 -> Immediate.credit(random.nextInt(3), random.nextInt(3));
            case 3 -> Immediate.control(Immediate.HELLO);
            case 4 -> Immediate.data(1 + random.nextInt(5000));
            default -> Immediate.data(1 + random.nextInt(200));
        };
    }
}
