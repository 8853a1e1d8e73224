package io.verbena.rdma.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.verbena.rdma.sys.EventFd;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sleeping and waking, on platform and virtual threads. */
@Timeout(60)
class WaitersTest {
    private static final int READ = 1;
    private static final int WRITE = 4;
    private static final long FOREVER = Long.MAX_VALUE;

    private final FakeQueue queue = new FakeQueue();
    private final Waiters waiters = queue.waiters;

    @AfterEach
    void noDescriptorStays() {
        queue.event.close();
    }

    /** A queue whose completions another thread adds; an armed one fires its descriptor, as the device does. */
    private static final class FakeQueue implements Waiters.Source {
        final Waiters waiters = new Waiters(this);
        final EventFd event;
        final AtomicInteger arms = new AtomicInteger();
        final AtomicInteger consumed = new AtomicInteger();
        final AtomicInteger unwatched = new AtomicInteger();
        private int completions;
        private int ready;
        private boolean armed;

        FakeQueue() {
            try {
                event = new EventFd();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** The device's side. */
        synchronized void complete(int bits) {
            completions |= bits;
            if (armed) {
                armed = false;
                event.signal();
            }
        }

        @Override
        public int poll() {
            int now;
            synchronized (this) {
                ready |= completions;
                completions = 0;
                now = ready;
            }
            waiters.changed(now);
            return now;
        }

        @Override
        public int arm() {
            arms.incrementAndGet();
            synchronized (this) {
                armed = true;
            }
            return poll();
        }

        @Override
        public void consumeEvent() {
            consumed.incrementAndGet();
            event.drain();
        }

        @Override
        public int fd() {
            return event.fd();
        }

        @Override
        public void unwatched() {
            unwatched.incrementAndGet();
        }
    }

    private final class Sleeping {
        final CountDownLatch returned = new CountDownLatch(1);
        final Thread thread;

        Sleeping(String kind, int ops) {
            Runnable body = () -> {
                try {
                    waiters.await(ops, FOREVER);
                    returned.countDown();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            };
            thread = kind.equals("virtual")
                    ? Thread.startVirtualThread(body)
                    : Thread.ofPlatform().start(body);
        }

        void awaitReturn() throws InterruptedException {
            assertTrue(returned.await(20, TimeUnit.SECONDS), "still asleep: " + thread);
            thread.join();
        }
    }

    private static void eventually(String what, BooleanSupplier condition) {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadlineNs < 0, "never: " + what);
            Thread.onSpinWait();
        }
    }

    private void awaitArmed(int times) {
        eventually("armed " + times + " times", () -> queue.arms.get() >= times);
    }

    @ParameterizedTest
    @ValueSource(strings = {"platform", "virtual"})
    void completionAfterTheArmWakesTheSleeper(String kind) throws Exception {
        for (int round = 0; round < 200; round++) {
            queue.arms.set(0);
            synchronized (queue) {
                queue.ready = 0;
            }
            var sleeper = new Sleeping(kind, READ);
            awaitArmed(1);
            queue.complete(READ);
            sleeper.awaitReturn();
        }
        assertFalse(waiters.any());
    }

    @ParameterizedTest
    @ValueSource(strings = {"platform", "virtual"})
    void completionThatAnotherThreadReapsWakesTheSleeper(String kind) throws Exception {
        for (int round = 0; round < 200; round++) {
            queue.arms.set(0);
            synchronized (queue) {
                queue.ready = 0;
            }
            var sleeper = new Sleeping(kind, READ);
            awaitArmed(1);
            queue.complete(READ);
            queue.poll(); // reaps what the sleeper waits for
            queue.event.drain(); // and takes the event that would have woken it
            sleeper.awaitReturn();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"platform", "virtual"})
    void followerIsPromotedWhenTheLeaderLeaves(String kind) throws Exception {
        for (int round = 0; round < 100; round++) {
            queue.arms.set(0);
            synchronized (queue) {
                queue.ready = 0;
            }
            var reader = new Sleeping(kind, READ);
            awaitArmed(1);
            var writer = new Sleeping(kind, WRITE);
            eventually("follower parked", () -> isParked(writer.thread));
            queue.complete(READ);
            reader.awaitReturn();
            awaitArmed(2); // by the promoted writer
            queue.complete(WRITE);
            writer.awaitReturn();
        }
        assertFalse(waiters.any());
    }

    private static boolean isParked(Thread thread) {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }

    @ParameterizedTest
    @ValueSource(strings = {"platform", "virtual"})
    void leaderWakesTheFollowerWhoseOperationIsReady(String kind) throws Exception {
        var reader = new Sleeping(kind, READ);
        awaitArmed(1);
        var writer = new Sleeping(kind, WRITE);
        eventually("follower parked", () -> isParked(writer.thread));
        queue.complete(WRITE); // the reader leads, reaps it, and stays asleep
        writer.awaitReturn();
        assertEquals(1, reader.returned.getCount());
        queue.complete(READ);
        reader.awaitReturn();
    }

    @ParameterizedTest
    @ValueSource(strings = {"platform", "virtual"})
    void wakeAllEndsEveryWait(String kind) throws Exception {
        var reader = new Sleeping(kind, READ);
        awaitArmed(1);
        var writer = new Sleeping(kind, WRITE);
        eventually("follower parked", () -> isParked(writer.thread));
        waiters.wakeAll();
        reader.awaitReturn();
        writer.awaitReturn();
        assertTrue(queue.unwatched.get() >= 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"platform", "virtual"})
    void waitEndsAtItsTimeout(String kind) throws Exception {
        long[] tookNs = new long[1];
        Runnable body = () -> {
            long startNs = System.nanoTime();
            try {
                waiters.await(READ, 30_000_000);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            tookNs[0] = System.nanoTime() - startNs;
        };
        Thread thread = kind.equals("virtual")
                ? Thread.startVirtualThread(body)
                : Thread.ofPlatform().start(body);
        thread.join(20_000);
        assertFalse(thread.isAlive());
        assertTrue(tookNs[0] >= 30_000_000, "took " + tookNs[0] + " ns");
    }

    @ParameterizedTest
    @ValueSource(strings = {"platform", "virtual"})
    void listenerHearsOfChangesAndTheSourceOfTheLastRemoval(String kind) throws Exception {
        var heard = new AtomicInteger();
        Runnable listener = heard::incrementAndGet;
        waiters.addListener(listener);
        assertTrue(waiters.any());
        var sleeper = new Sleeping(kind, READ);
        awaitArmed(1);
        queue.complete(READ);
        sleeper.awaitReturn();
        assertTrue(heard.get() > 0);
        assertEquals(0, queue.unwatched.get());
        waiters.removeListener(listener);
        assertEquals(1, queue.unwatched.get());
    }
}
