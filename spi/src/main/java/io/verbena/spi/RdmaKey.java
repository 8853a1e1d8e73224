package io.verbena.spi;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectionKey;

/**
 * A channel's registration with a {@link RdmaSelector}: of one of our channels, or of a JDK channel.
 *
 * <p>Fields without a note belong to the thread that holds the selector's monitor.
 */
final class RdmaKey extends AbstractSelectionKey {
    private static final VarHandle INTEREST = handle("interest", int.class);
    private static final VarHandle CANCEL_SEEN = handle("cancelSeen", boolean.class);

    private final SelectableChannel channel;
    private final RdmaSelector selector;

    // any thread
    private volatile int interest;
    private volatile int ready;
    private volatile boolean cancelSeen;

    /** Guarded by the selector's update queue. */
    boolean updateQueued;

    /** The registration with the selector's JDK selector; written under the selector's monitor, read by anyone. */
    private volatile SelectionKey innerKey;

    private SelectableChannel innerChannel;
    private PollWatch watch;

    /** Operations found ready in the selection operation under way. */
    int found;

    /** Place in the selected-key set, -1 if not in it; guarded by that set. */
    int selectedIndex = -1;

    RdmaKey(RdmaSelector selector, SelectableChannel channel, int interest) {
        this.selector = selector;
        this.channel = channel;
        this.interest = interest;
    }

    private static VarHandle handle(String field, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(RdmaKey.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @Override
    public SelectableChannel channel() {
        return channel;
    }

    /**
     * {@inheritDoc}
     *
     * <p>{@code cancel()} is final, but asks for the selector after it has made the key invalid: that is where a
     * cancelled key takes its inner key along, so that the channel can be made blocking at once.
     */
    @Override
    public Selector selector() {
        if (!isValid() && !cancelSeen && CANCEL_SEEN.compareAndSet(this, false, true)) {
            selector.keyCancelled(this);
        }
        return selector;
    }

    private void ensureValid() {
        if (!isValid()) {
            throw new CancelledKeyException();
        }
    }

    @Override
    public int interestOps() {
        ensureValid();
        return interest;
    }

    @Override
    public SelectionKey interestOps(int ops) {
        ensureValid();
        checkOps(ops);
        if ((int) INTEREST.getAndSet(this, ops) != ops) {
            selector.update(this);
        }
        return this;
    }

    @Override
    public int interestOpsOr(int ops) {
        ensureValid();
        checkOps(ops);
        int old = (int) INTEREST.getAndBitwiseOr(this, ops);
        if (old != (old | ops)) {
            selector.update(this);
        }
        return old;
    }

    @Override
    public int interestOpsAnd(int ops) {
        ensureValid();
        int old = (int) INTEREST.getAndBitwiseAnd(this, ops);
        if (old != (old & ops)) {
            selector.update(this);
        }
        return old;
    }

    private void checkOps(int ops) {
        if ((ops & ~channel.validOps()) != 0) {
            throw new IllegalArgumentException();
        }
    }

    @Override
    public int readyOps() {
        ensureValid();
        return ready;
    }

    // --- for the selector; these do not care whether the key is valid

    /** Whether the key is valid and will be: close makes what is below the channel look ready before it cancels keys. */
    boolean isAlive() {
        return isValid() && channel.isOpen();
    }

    int interest() {
        return interest;
    }

    int ready() {
        return ready;
    }

    void ready(int ops) {
        ready = ops;
    }

    SelectionKey innerKey() {
        return innerKey;
    }

    SelectableChannel innerChannel() {
        return innerChannel;
    }

    void inner(SelectableChannel target, SelectionKey key) {
        innerChannel = target;
        innerKey = key;
    }

    PollWatch watch() {
        return watch;
    }

    void watch(PollWatch newWatch) {
        watch = newWatch;
    }

    /** The channel is made of something else now: look again, also if a selection operation sleeps. */
    void targetChanged() {
        selector.updateNow(this);
    }

    @Override
    public String toString() {
        return "channel=" + channel + ", selector=" + selector
                + (isValid() ? ", interestOps=" + interest + ", readyOps=" + ready : ", invalid");
    }
}
