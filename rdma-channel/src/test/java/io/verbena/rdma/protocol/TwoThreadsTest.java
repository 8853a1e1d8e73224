package io.verbena.rdma.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The halves in real threads: one writes under its send lock while another reaps credit under its poll lock. */
@SuppressWarnings("ThreadPriorityCheck") // Three busy threads on two cores: a yield is for speed only.
class TwoThreadsTest {
    private static final CreditTerms TERMS = CreditTerms.tiny(512, 12);
    private static final SendLimits SOFT =
            new SendLimits(64, 16, SendLimits.INLINE_ANY, 0, ImmediateCodec.WRITE_WITH_IMM);

    /** Immediates on their way in one direction; one thread puts and one takes. */
    private static final class Wire {
        private final AtomicIntegerArray slots = new AtomicIntegerArray(16);
        private long taken;
        private final AtomicLong put = new AtomicLong();

        void put(int immediate) {
            int slot = (int) put.get() & 15;
            assertTrue(slots.compareAndSet(slot, Immediate.NONE, immediate), "receiver not ready");
            put.set(put.get() + 1);
        }

        int take() {
            int immediate = slots.getAndSet((int) taken & 15, Immediate.NONE);
            taken += immediate == Immediate.NONE ? 0 : 1;
            return immediate;
        }
    }

    @Test
    void writerAndCreditReaperShareNothingButTheBridge() {
        assertTimeoutPreemptively(Duration.ofSeconds(60), () -> exchange(400_000));
    }

    private static void exchange(long total) throws InterruptedException {
        StreamProtocol sender = StreamProtocol.client(TERMS, TERMS, SOFT);
        StreamProtocol receiver = StreamProtocol.server(TERMS, TERMS, SOFT);
        Wire data = new Wire();
        Wire credit = new Wire();
        data.put(sender.send().commitHello());
        sender.send().onSendCompletion(1);
        AtomicLong posted = new AtomicLong(1);
        Thread writer = Thread.ofPlatform().daemon().start(() -> write(sender.send(), data, posted, total));
        Thread reaper = Thread.ofPlatform().daemon().start(() -> reap(sender, credit, posted, total));
        for (long read = 0; read < total; ) {
            int immediate = data.take();
            if (immediate == Immediate.NONE) {
                Thread.yield();
            } else {
                receiver.receive().onImmediate(immediate, Math.max(0, immediate));
                assertNull(receiver.receive().violation());
            }
            read += receiver.receive().readableBytes();
            receiver.receive().consume(receiver.receive().readableBytes());
            int reply = receiver.receive().takeReply();
            if (reply != Immediate.NONE) {
                credit.put(receiver.send().commitReply(reply));
                receiver.send().onSendCompletion(receiver.send().wrId());
            }
        }
        writer.join();
        reaper.join();
        assertNull(sender.receive().violation());
        assertEquals(total, sender.send().sentBytes());
    }

    private static void write(SendHalf send, Wire data, AtomicLong posted, long total) {
        while (send.sentBytes() < total) {
            int bytes = send.plan((int) Math.min(37, total - send.sentBytes()));
            if (bytes > 0) {
                send.commit(bytes);
                data.put(send.immediate());
                posted.set(send.wrId());
            } else {
                Thread.yield();
            }
        }
    }

    private static void reap(StreamProtocol sender, Wire credit, AtomicLong posted, long total) {
        while (sender.send().sentBytes() < total && sender.receive().violation() == null) {
            int immediate = credit.take();
            if (immediate == Immediate.NONE) {
                Thread.yield();
            } else {
                sender.receive().onImmediate(immediate, 0);
            }
            sender.send().onSendCompletion(posted.get());
        }
    }

    @Test
    void nothingIsAllocatedPerMessage() {
        StreamProtocol sender = StreamProtocol.client(TERMS, TERMS, SOFT);
        StreamProtocol receiver = StreamProtocol.server(TERMS, TERMS, SOFT);
        ByteBuffer ring = ByteBuffer.allocateDirect(TERMS.ringBytes());
        ByteBuffer target = ByteBuffer.allocate(64);
        receiver.receive().onImmediate(sender.send().commitHello(), 0);
        pingMany(sender, receiver, ring, target, 20_000);
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        threads.getCurrentThreadAllocatedBytes();
        long before = threads.getCurrentThreadAllocatedBytes();
        pingMany(sender, receiver, ring, target, 100_000);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(allocated < 10_000, allocated + " bytes for 100000 messages");
    }

    private static void pingMany(
            StreamProtocol sender, StreamProtocol receiver, ByteBuffer ring, ByteBuffer target, int messages) {
        for (int i = 0; i < messages; i++) {
            int bytes = sender.send().plan(33);
            sender.send().commit(bytes);
            sender.send().onSendCompletion(sender.send().wrId());
            ReceiveHalf receive = receiver.receive();
            receive.onImmediate(sender.send().immediate(), bytes);
            receive.consume(receive.ring().copyOut(ring, receive.readPosition(), target.clear(), bytes));
            int reply = receive.takeReply();
            if (reply != Immediate.NONE) {
                int posted = receiver.send().commitReply(reply);
                receiver.send().onSendCompletion(receiver.send().wrId());
                sender.receive().onImmediate(posted, 0);
            }
        }
    }
}
