package io.verbena.rdma.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SendQueueTest {
    private static final CreditTerms TERMS = CreditTerms.of(20, 10_000);
    private StreamProtocol core;

    private SendHalf open(int sqDepth, int interval, int inlineLimit, int sendRingBytes, ImmediateCodec codec) {
        SendLimits limits = new SendLimits(sqDepth, interval, inlineLimit, sendRingBytes, codec);
        core = StreamProtocol.server(TERMS, TERMS, limits);
        core.receive().onImmediate(Immediate.control(Immediate.HELLO), codec.sendPayloadBytes());
        return core.send();
    }

    private static boolean send(SendHalf send, int bytes) {
        assertEquals(bytes, send.plan(bytes));
        send.commit(bytes);
        return send.signalled();
    }

    @Test
    void everyNthRequestIsSignalled() {
        SendHalf send = open(100, 3, SendLimits.INLINE_ANY, 0, ImmediateCodec.WRITE_WITH_IMM);
        for (int i = 1; i <= 30; i++) {
            assertEquals(i % 3 == 0, send(send, 10), "request " + i);
            assertEquals(i, send.wrId());
        }
    }

    @Test
    void dataLeavesTheControlSlotsAndItsLastRequestIsSignalled() {
        SendHalf send = open(12, 1000, SendLimits.INLINE_ANY, 0, ImmediateCodec.WRITE_WITH_IMM);
        for (int i = 1; i <= 3; i++) {
            assertFalse(send(send, 1));
        }
        assertTrue(send(send, 1), "fills the data slots");
        assertEquals(0, send.plan(1));
        assertFalse(send.writable());
        for (int i = 0; i < ProtocolLimits.CONTROL_SLOTS; i++) {
            assertTrue(send.hasControlSlot());
            send.commitReply(Immediate.credit(1, 1));
            assertTrue(send.signalled());
        }
        assertFalse(send.hasControlSlot());
        assertThrows(IllegalStateException.class, () -> send.commitFin(true));
        assertEquals(SendState.OPEN, send.state(), "a FIN without slot changes nothing");
        send.onSendCompletion(4);
        assertEquals(0, send.plan(1), "eight control messages are outstanding");
        assertTrue(send.hasControlSlot());
        send.onSendCompletion(12);
        assertEquals(1, send.plan(1));
    }

    @Test
    void iwarpDataTakesTwoSlots() {
        SendHalf send = open(13, 1000, SendLimits.INLINE_ANY, 0, ImmediateCodec.WRITE_THEN_SEND);
        assertFalse(send(send, 1));
        assertEquals(2, send.wrId());
        assertTrue(send(send, 1), "leaves one slot, and two are needed");
        assertEquals(0, send.plan(1));
    }

    @Test
    void sendRingIsReclaimedByTheCompletion() {
        SendHalf send = open(100, 1000, 0, 64, ImmediateCodec.WRITE_WITH_IMM);
        assertFalse(send(send, 31));
        assertEquals(0, send.localOffset());
        assertFalse(send.inline());
        assertTrue(send(send, 20), "half of the ring is unsignalled");
        assertEquals(31, send.localOffset());
        assertEquals(0, send.plan(20), "13 free bytes are no place for a part of a longer message");
        assertFalse(send.writable());
        assertFalse(send(send, 13));
        assertEquals(0, send.plan(1));
        send.onSendCompletion(2);
        assertTrue(send.writable());
        assertEquals(51, send.plan(60));
        assertEquals(0, send.localOffset());
    }

    @Test
    void shortPieceAtTheSendRingsEndGoesThroughTheRing() {
        SendHalf send = open(100, 1, 16, 64, ImmediateCodec.WRITE_WITH_IMM);
        send(send, 60);
        send.onSendCompletion(1);
        assertEquals(4, send.plan(1000));
        assertFalse(send.inline(), "inline, it would leave the next message the same 4 bytes");
        send.commit(4);
        assertEquals(60, send.plan(1000));
        assertEquals(0, send.localOffset());
    }

    @Test
    void inlineMessagesNeedNoSendRing() {
        SendHalf send = open(100, 1000, 16, 64, ImmediateCodec.WRITE_WITH_IMM);
        send(send, 64);
        assertEquals(0, send.plan(17));
        assertTrue(!send(send, 16) && send.inline());
    }

    @Test
    void keepaliveIsSentOnlyWhenNothingElseProvesThePeer() {
        SendHalf send = open(9, 1000, SendLimits.INLINE_ANY, 0, ImmediateCodec.WRITE_WITH_IMM);
        assertTrue(send.commitKeepalive());
        assertTrue(send.signalled());
        assertFalse(send.commitKeepalive());
        send.onSendCompletion(1);
        assertTrue(send.commitKeepalive());
    }

    @Test
    void completionOutOfOrderIsRefused() {
        SendHalf send = open(100, 1, SendLimits.INLINE_ANY, 0, ImmediateCodec.WRITE_WITH_IMM);
        send(send, 1);
        send(send, 1);
        send.onSendCompletion(2);
        assertThrows(IllegalArgumentException.class, () -> send.onSendCompletion(1));
        assertThrows(IllegalArgumentException.class, () -> send.onSendCompletion(3));
    }

    @Test
    void closerMayDisconnectOnceItsRequestsAreDoneAndThePeerAnswered() {
        SendHalf send = open(100, 100, SendLimits.INLINE_ANY, 0, ImmediateCodec.WRITE_WITH_IMM);
        send(send, 1);
        send.commitFin(true);
        assertEquals(WriteEnd.SHUT_DOWN, send.writeEnd());
        assertFalse(send.mayDisconnect());
        send.onSendCompletion(2);
        assertFalse(send.mayDisconnect());
        assertEquals(ReceiveHalf.CLOSING, core.receive().onImmediate(Immediate.control(Immediate.FIN_ACK), 0));
        assertTrue(send.mayDisconnect());
    }

    @Test
    void finIsSaidOnceAndMayBecomeClose() {
        SendHalf send = open(100, 100, SendLimits.INLINE_ANY, 0, ImmediateCodec.WRITE_WITH_IMM);
        assertEquals(Immediate.fin(false), send.commitFin(false));
        assertEquals(Immediate.NONE, send.commitFin(false));
        assertEquals(Immediate.fin(true), send.commitFin(true));
        assertEquals(Immediate.NONE, send.commitFin(true));
        assertEquals(Immediate.NONE, send.commitReset());
        assertEquals(0, send.plan(1));
    }

    @Test
    void beforeHelloThereIsNothingToReset() {
        SendLimits limits = new SendLimits(100, 1, SendLimits.INLINE_ANY, 0, ImmediateCodec.WRITE_WITH_IMM);
        SendHalf send = StreamProtocol.client(TERMS, TERMS, limits).send();
        assertEquals(0, send.plan(1), "HELLO comes first");
        assertEquals(Immediate.NONE, send.commitReset());
        assertThrows(IllegalStateException.class, () -> send.commitFin(true));
        assertEquals(Immediate.control(Immediate.HELLO), send.commitHello());
        assertThrows(IllegalStateException.class, send::commitHello);
        assertEquals(Immediate.control(Immediate.RESET), send.commitReset());
    }

    @Test
    void peersEndsDecideWhatWritesSay() {
        SendHalf send = open(100, 100, SendLimits.INLINE_ANY, 0, ImmediateCodec.WRITE_WITH_IMM);
        core.receive().onImmediate(Immediate.fin(false), 0);
        assertEquals(WriteEnd.NONE, send.writeEnd());
        core.receive().onImmediate(Immediate.fin(true), 0);
        assertEquals(WriteEnd.BROKEN_PIPE, send.writeEnd());
        assertTrue(send.writable(), "a write would fail at once");
        assertEquals(0, send.plan(1));
        core.receive().onTransportEnd(false);
        assertEquals(WriteEnd.BROKEN_PIPE, send.writeEnd());
        assertEquals(ReadEnd.EOF, core.receive().readEnd());
    }

    @Test
    void limitsOutOfRangeAreRefused() {
        ImmediateCodec codec = ImmediateCodec.WRITE_THEN_SEND;
        assertThrows(IllegalArgumentException.class, () -> new SendLimits(9, 1, 0, 64, codec));
        assertThrows(IllegalArgumentException.class, () -> new SendLimits(10, 0, 0, 64, codec));
        assertThrows(IllegalArgumentException.class, () -> new SendLimits(10, 1, -1, 64, codec));
        assertThrows(IllegalArgumentException.class, () -> new SendLimits(10, 1, 0, 0, codec));
    }
}
