package io.verbena.spi;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What other threads leave for the thread that selects: keys to look at, keys cancelled, news of streams. Thread-safe;
 * the {@code next} methods are for the thread that holds the selector's monitor.
 */
final class SelectorInbox {
    /** Guarded by itself, as are the two flags' writes. */
    private final Deque<RdmaKey> updates = new ArrayDeque<>();

    private volatile boolean updatesQueued;
    private volatile boolean urgent;

    private final Queue<RdmaKey> cancelled = new ConcurrentLinkedQueue<>();
    private final Queue<PollWatch> news = new ConcurrentLinkedQueue<>();

    /** A key's interest set or channel changed; {@code now} if a sleeping select is to look at it. */
    void update(RdmaKey key, boolean now) {
        synchronized (updates) {
            if (!key.updateQueued) {
                key.updateQueued = true;
                updates.addLast(key);
            }
            updatesQueued = true;
            urgent |= now;
        }
    }

    void cancelled(RdmaKey key) {
        cancelled.add(key);
    }

    void news(PollWatch watch) {
        news.add(watch);
    }

    /** Whether a thread about to sleep must look at this first. */
    boolean isUrgent() {
        return urgent || !cancelled.isEmpty() || !news.isEmpty();
    }

    /** The next key to look at, or null. */
    RdmaKey nextUpdate() {
        if (!updatesQueued) {
            return null;
        }
        synchronized (updates) {
            RdmaKey key = updates.pollFirst();
            if (key == null) {
                updatesQueued = false;
                urgent = false;
            } else {
                key.updateQueued = false;
            }
            return key;
        }
    }

    /** The next cancelled key, or null. */
    RdmaKey nextCancelled() {
        return cancelled.poll();
    }

    /** The next watch with news, or null; later news of it come again. */
    PollWatch nextNews() {
        PollWatch watch = news.poll();
        if (watch != null) {
            watch.heard();
        }
        return watch;
    }
}
