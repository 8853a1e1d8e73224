package io.verbena.spi;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** Waiting with deadlines, for conditions that other threads bring about. */
final class Wait {
    static final long SECONDS = 20;
    private static final long PAUSE_NS = 2_000_000;
    private static final int STEADY_SAMPLES = 4;

    private Wait() {}

    /** A condition that may throw. */
    interface Condition {
        boolean holds() throws Exception;
    }

    /** Until the condition holds; fails at the deadline. */
    static void until(String what, Condition condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!condition.holds()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not within " + SECONDS + " s: " + what);
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    /** Until a count is back at {@code expected}. */
    static void untilEquals(String what, long expected, LongSupplier count) throws Exception {
        try {
            until(what, () -> count.getAsLong() == expected);
        } catch (AssertionError e) {
            throw new AssertionError(
                    what + ": expected " + expected + ", is " + count.getAsLong() + "; open: " + fdTargets(), e);
        }
    }

    /** What the open descriptors of this process are. */
    static List<String> fdTargets() {
        List<String> targets = new ArrayList<>();
        for (String fd : Objects.requireNonNull(new File("/proc/self/fd").list())) {
            try {
                targets.add(fd + "=" + Files.readSymbolicLink(Path.of("/proc/self/fd", fd)));
            } catch (IOException e) {
                targets.add(fd + "=gone");
            }
        }
        return targets;
    }

    /** Open descriptors of this process. */
    static long openFds() {
        return Objects.requireNonNull(new File("/proc/self/fd").list()).length;
    }

    /** Runs a task in a new thread, platform or virtual. */
    static <T> Task<T> start(boolean virtual, Callable<T> body) {
        return new Task<>(virtual, body);
    }

    static <T> Task<T> start(Callable<T> body) {
        return start(false, body);
    }

    /** A thread with a result. */
    static final class Task<T> {
        private final CompletableFuture<T> result = new CompletableFuture<>();
        final Thread thread;

        private Task(boolean virtual, Callable<T> body) {
            Thread.Builder builder =
                    virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
            thread = builder.start(() -> {
                try {
                    result.complete(body.call());
                } catch (Throwable t) {
                    result.completeExceptionally(t);
                }
            });
        }

        /** What the task returned; an error it threw is thrown, anything at the deadline. */
        T get() throws Exception {
            try {
                return result.get(SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                throw new AssertionError("the task failed", e.getCause());
            } catch (TimeoutException e) {
                throw stuck(e);
            }
        }

        /** The exception that the task ended by. */
        Throwable failure() throws Exception {
            try {
                T value = result.get(SECONDS, TimeUnit.SECONDS);
                throw new AssertionError("the task did not fail but returned " + value);
            } catch (ExecutionException e) {
                return e.getCause();
            } catch (TimeoutException e) {
                throw stuck(e);
            }
        }

        private AssertionError stuck(TimeoutException e) {
            AssertionError error = new AssertionError("the task is stuck in " + thread.getState(), e);
            error.setStackTrace(thread.getStackTrace());
            return error;
        }

        boolean isDone() {
            return result.isDone();
        }

        /** Until the thread sits in {@code method}: that is on its stack, and the stack stays as it is. */
        Task<T> blockedIn(String method) throws Exception {
            StackTraceElement[][] last = new StackTraceElement[1][];
            int[] steady = {0};
            until(thread + " blocks in " + method, () -> {
                if (result.isDone()) {
                    throw new AssertionError("ended instead of blocking in " + method + ": " + result);
                }
                StackTraceElement[] now = thread.getStackTrace();
                boolean inside = Arrays.stream(now)
                        .anyMatch(frame -> frame.getMethodName().equals(method));
                steady[0] = inside && Arrays.equals(now, last[0]) ? steady[0] + 1 : 0;
                last[0] = now;
                return steady[0] >= STEADY_SAMPLES;
            });
            return this;
        }
    }
}
