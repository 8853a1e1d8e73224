package io.verbena.spi;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectableChannel;
import java.util.Objects;

/**
 * Keeps what is watched for each key in step with its channel and its interest set: a registration with the JDK
 * selector, a {@link PollWatch}, both (a listener) or neither. Belongs to the thread that holds the selector's monitor.
 *
 * <p>Keys of JDK channels are registered with the JDK selector here, not when they are made: so they come after our key
 * in the channel's list, and close cancels ours first ({@link RdmaSelector#keyCancelled}).
 */
final class KeyWatcher {
    private final RdmaSelector selector;
    private final Sleeper sleeper;
    private final Poller poller;

    private int innerKeys;
    private boolean innerFlushDue;

    KeyWatcher(RdmaSelector selector, Sleeper sleeper, Poller poller) {
        this.selector = selector;
        this.sleeper = sleeper;
        this.poller = poller;
    }

    /** Whether the JDK selector has keys. */
    boolean usesInner() {
        return innerKeys > 0;
    }

    /**
     * Looks at a key again.
     *
     * @throws IOException if descriptors are short; the key is then looked at again by the next selection operation
     */
    void sync(RdmaKey key) throws IOException {
        SelectableChannel innerTarget = key.channel();
        PollTarget pollTarget = null;
        if (key.channel() instanceof WatchedChannel watched) {
            pollTarget = watched.pollTarget();
            innerTarget = watched.innerTarget();
        }
        try {
            syncInner(key, innerTarget);
            syncWatch(key, pollTarget);
        } catch (IOException e) {
            selector.update(key);
            throw e;
        }
    }

    private void syncInner(RdmaKey key, SelectableChannel target) throws IOException {
        if (!Objects.equals(key.innerChannel(), target)) {
            detachInner(key);
            if (target != null) {
                attachInner(key, target);
            }
        } else if (target != null) {
            try {
                key.innerKey().interestOps(key.interest());
            } catch (CancelledKeyException e) {
                // the channel was closed meanwhile: this key is being cancelled
            }
        }
    }

    private void attachInner(RdmaKey key, SelectableChannel target) throws IOException {
        flush();
        try {
            key.inner(target, target.register(sleeper.inner(), key.interest(), key));
            innerKeys++;
        } catch (ClosedChannelException | IllegalBlockingModeException | CancelledKeyException e) {
            return; // closed, or cancelled and made blocking, meanwhile: this key is being cancelled
        }
        if (!key.isValid()) {
            key.innerKey().cancel();
        }
    }

    private void detachInner(RdmaKey key) {
        if (key.innerKey() != null) {
            key.innerKey().cancel();
            key.inner(null, null);
            innerKeys--;
            innerFlushDue = true;
        }
    }

    private void syncWatch(RdmaKey key, PollTarget target) throws IOException {
        PollWatch watch = key.watch();
        if (watch != null && Objects.equals(watch.target, target)) {
            poller.interestChanged(watch);
            return;
        }
        detachWatch(key);
        if (target != null) {
            PollWatch added = new PollWatch(selector, key, target);
            key.watch(added);
            poller.add(added);
        }
    }

    private void detachWatch(RdmaKey key) {
        PollWatch watch = key.watch();
        if (watch != null) {
            key.watch(null);
            poller.remove(watch);
        }
    }

    /** Nothing is watched for the key any more. */
    void drop(RdmaKey key) {
        detachInner(key);
        detachWatch(key);
    }

    /** Lets the JDK close channels whose keys are gone. */
    void flush() throws IOException {
        if (innerFlushDue) {
            innerFlushDue = false;
            sleeper.flushInner();
        }
    }

    /** Sleeps on what is watched; see {@link Sleeper#sleep}. A sleep in the JDK selector flushes it by itself. */
    void sleep(long timeoutMs) throws IOException {
        if (!usesInner()) {
            flush();
        }
        innerFlushDue &= !usesInner();
        sleeper.sleep(timeoutMs, usesInner(), poller.usesEpoll());
    }
}
