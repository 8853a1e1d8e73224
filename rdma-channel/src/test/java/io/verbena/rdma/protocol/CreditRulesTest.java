package io.verbena.rdma.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CreditRulesTest {
    private static final SendLimits SOFT =
            new SendLimits(64, 16, SendLimits.INLINE_ANY, 0, ImmediateCodec.WRITE_WITH_IMM);

    private static ReceiveHalf receiver(CreditTerms own) {
        return StreamProtocol.client(own, CreditTerms.of(12, 1), SOFT).receive();
    }

    private static void arrive(ReceiveHalf receive, int bytes) {
        int events = receive.onImmediate(Immediate.data(bytes), bytes);
        assertEquals(ReceiveHalf.READABLE, events & ~ReceiveHalf.REPLY_DUE, "" + receive.violation());
    }

    @Test
    void creditOfBytesIsDueAtExactlyHalfTheRing() {
        ReceiveHalf receive = receiver(CreditTerms.of(12, 100));
        arrive(receive, 4096);
        receive.consume(2047);
        assertFalse(receive.replyDue());
        assertEquals(Immediate.NONE, receive.takeReply());
        receive.consume(1);
        assertTrue(receive.replyDue());
        assertEquals(Immediate.credit(1, 2048), receive.takeReply());
        assertFalse(receive.replyDue());
    }

    @Test
    void creditOfReceivesIsDueAtHalfRoundedUpWithoutAnyRead() {
        ReceiveHalf receive = receiver(CreditTerms.of(12, 5));
        arrive(receive, 1);
        arrive(receive, 1);
        assertEquals(Immediate.NONE, receive.takeReply());
        assertEquals(ReceiveHalf.READABLE | ReceiveHalf.REPLY_DUE, receive.onImmediate(Immediate.data(1), 1));
        assertEquals(Immediate.credit(3, 0), receive.takeReply());
    }

    @Test
    void oneReceiveIsCreditedAtOnce() {
        ReceiveHalf receive = receiver(CreditTerms.of(12, 1));
        arrive(receive, 7);
        assertEquals(Immediate.credit(1, 0), receive.takeReply());
    }

    @Test
    void remainderBelowAUnitStaysForTheNextCredit() {
        ReceiveHalf receive = receiver(CreditTerms.of(18, 100)); // Units of 32 bytes.
        arrive(receive, 1 << 18);
        receive.consume((1 << 17) + 31);
        assertEquals(Immediate.credit(1, 4096), receive.takeReply());
        receive.consume((1 << 17) - 32);
        assertEquals(Immediate.NONE, receive.takeReply(), "one byte less than half");
        receive.consume(1);
        assertEquals(Immediate.credit(0, 4096), receive.takeReply());
        assertEquals(0, receive.readableBytes());
    }

    @Test
    void oneCreditReturnsBothResources() {
        ReceiveHalf receive = receiver(CreditTerms.of(12, 4));
        arrive(receive, 100);
        receive.consume(60);
        arrive(receive, 100);
        assertEquals(Immediate.credit(2, 60), receive.takeReply());
    }

    @Test
    void noCreditAfterThePeersFin() {
        ReceiveHalf receive = receiver(CreditTerms.of(12, 4));
        arrive(receive, 4096);
        receive.onImmediate(Immediate.fin(false), 0);
        assertEquals(Immediate.control(Immediate.FIN_ACK), receive.takeReply());
        receive.consume(4096);
        assertEquals(Immediate.NONE, receive.takeReply());
        assertEquals(ReadEnd.EOF, receive.readEnd());
    }

    @Test
    void discardedInputIsCredited() {
        ReceiveHalf receive = receiver(CreditTerms.of(12, 100));
        arrive(receive, 1000);
        receive.discardInput();
        assertEquals(0, receive.readableBytes());
        assertEquals(ReceiveHalf.REPLY_DUE, receive.onImmediate(Immediate.data(1048), 1048));
        assertEquals(Immediate.credit(2, 2048), receive.takeReply());
    }

    @Test
    void creditThatWasTakenBeforeCloseIsNotPostedAfterIt() {
        StreamProtocol core = StreamProtocol.client(CreditTerms.of(12, 1), CreditTerms.of(12, 1), SOFT);
        core.send().commitHello();
        arrive(core.receive(), 1);
        int credit = core.receive().takeReply();
        core.receive().consume(1);
        assertEquals(Immediate.fin(true), core.send().commitFin(true));
        assertEquals(Immediate.NONE, core.send().commitReply(credit));
        core.receive().onImmediate(Immediate.fin(true), 0);
        int ack = core.receive().takeReply();
        assertEquals(ack, core.send().commitReply(ack), "FIN_ACK follows CLOSE");
    }

    @Test
    void senderGetsExactlyWhatWasCredited() {
        StreamProtocol core = StreamProtocol.server(CreditTerms.of(12, 1), CreditTerms.of(18, 2), SOFT);
        SendHalf send = core.send();
        core.receive().onImmediate(Immediate.control(Immediate.HELLO), 0);
        assertEquals(1 << 18, send.plan(Integer.MAX_VALUE));
        send.commit(1 << 18);
        assertEquals(0, send.plan(1));
        assertFalse(send.writable());
        assertEquals(ReceiveHalf.WRITABLE, core.receive().onImmediate(Immediate.credit(0, 3), 0));
        assertEquals(96, send.plan(1000));
        send.commit(95);
        assertEquals(0, send.plan(1000), "one byte of credit, but no receive");
        core.receive().onImmediate(Immediate.credit(1, 0), 0);
        assertEquals(1, send.plan(1000));
    }

    @Test
    void messageEndsAtTheRingsEnd() {
        StreamProtocol core = StreamProtocol.server(CreditTerms.of(12, 1), CreditTerms.of(12, 100), SOFT);
        core.receive().onImmediate(Immediate.control(Immediate.HELLO), 0);
        core.send().plan(4000);
        core.send().commit(4000);
        core.receive().onImmediate(Immediate.credit(1, 4000), 0);
        assertEquals(96, core.send().plan(1000));
        assertEquals(4000, core.send().remoteOffset());
        core.send().commit(96);
        assertEquals(1000, core.send().plan(1000));
        assertEquals(0, core.send().remoteOffset());
    }

    @Test
    void termsOutOfRangeAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> CreditTerms.of(11, 1));
        assertThrows(IllegalArgumentException.class, () -> CreditTerms.of(28, 1));
        assertThrows(IllegalArgumentException.class, () -> CreditTerms.of(12, 0));
        assertThrows(IllegalArgumentException.class, () -> CreditTerms.of(12, 16384));
    }

    @Test
    void consumeAndCommitBeyondWhatIsThereAreRefused() {
        StreamProtocol core = StreamProtocol.server(CreditTerms.of(12, 1), CreditTerms.of(12, 1), SOFT);
        assertThrows(IllegalArgumentException.class, () -> core.receive().consume(1));
        assertThrows(IllegalArgumentException.class, () -> core.receive().consume(-1));
        assertThrows(IllegalArgumentException.class, () -> core.send().commit(1));
        core.send().plan(5);
        assertThrows(IllegalArgumentException.class, () -> core.send().commit(6));
    }
}
