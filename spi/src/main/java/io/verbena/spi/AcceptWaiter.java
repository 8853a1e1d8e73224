package io.verbena.spi;

import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;

/**
 * Waits for a connection of either kind: a JDK selector with the twin, woken by the stream listener's descriptor.
 *
 * <p>{@link #await} is for one thread at a time, the holder of the channel's {@code acceptLock}; {@link #close} for any
 * thread: it ends an {@code await} under way, and the last of the two frees the descriptors.
 */
final class AcceptWaiter {
    private static final long LEAVE_NS = 1_000_000_000;

    private final Sleeper sleeper;

    // guarded by this
    private boolean waiting;
    private boolean closed;
    private boolean freed;

    AcceptWaiter(ServerSocketChannel twin, int streamsFd) throws IOException {
        sleeper = new Sleeper(key -> {}, fd -> {}, this::isClosed);
        try {
            twin.register(sleeper.inner(), SelectionKey.OP_ACCEPT);
            sleeper.epoll().add(streamsFd, Linux.EPOLLIN);
        } catch (IOException | RuntimeException e) {
            sleeper.close();
            throw e;
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** Until there may be a connection, the time is over (-1: never), or the thread is interrupted, or close. */
    void await(long timeoutMs) throws IOException {
        synchronized (this) {
            if (closed) {
                return;
            }
            waiting = true;
        }
        try {
            sleeper.sleep(timeoutMs, true, true);
        } catch (ClosedSelectorException e) {
            // the channel was closed: its accept finds that out
        } finally {
            synchronized (this) {
                waiting = false;
                notifyAll();
            }
            freeIfDone();
        }
    }

    /** Frees the descriptors, and with them the twin's port, before it returns, unless the waiter is held up. */
    void close() throws IOException {
        synchronized (this) {
            closed = true;
        }
        sleeper.kick();
        letWaiterLeave();
        freeIfDone();
    }

    private synchronized void letWaiterLeave() {
        long deadline = System.nanoTime() + LEAVE_NS;
        boolean interrupted = false;
        while (waiting) {
            long leftMs = (deadline - System.nanoTime()) / 1_000_000;
            if (leftMs <= 0) {
                break;
            }
            try {
                wait(leftMs);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void freeIfDone() throws IOException {
        synchronized (this) {
            if (waiting || !closed || freed) {
                return;
            }
            freed = true;
        }
        sleeper.close();
    }
}
