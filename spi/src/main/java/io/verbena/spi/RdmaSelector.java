package io.verbena.spi;

import io.verbena.rdma.stream.Spin;
import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * One selector for channels carried by streams, channels carried by TCP, and the JDK's own channels.
 *
 * <p>Streams, connects and listeners for streams are polled ({@link Poller}); JDK channels sit in a JDK selector; the
 * {@link Sleeper} sleeps on either or both.
 *
 * <p>Locks, outermost first: this selector's monitor and the selected-key set's, both held by a selection operation;
 * then what {@code package-info} names. Other threads only leave word ({@link SelectorInbox}), and wake the sleeper where
 * that may not wait.
 */
final class RdmaSelector extends AbstractSelector {
    /** While streams keep a selector busy, the kernel is asked for other events this often. */
    private static final long KERNEL_CHECK_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
    private final Set<SelectionKey> publicKeys = Collections.unmodifiableSet(keys);
    private final SelectedKeySet selectedKeys = new SelectedKeySet();

    private final Sleeper sleeper;
    private final Poller poller;
    private final KeyWatcher watcher;
    private final Spin spinner;

    // any thread
    private final AtomicBoolean wakeup = new AtomicBoolean();
    private final SelectorInbox inbox = new SelectorInbox();

    // guarded by this selector's monitor
    private final List<RdmaKey> found = new ArrayList<>();
    private boolean inSelect;
    private boolean closed;
    private long lastKernelCheckNs = System.nanoTime();

    RdmaSelector(RdmaSelectorProvider provider) throws IOException {
        super(provider);
        sleeper = new Sleeper(this::innerReady, this::fdReady, this::hasWork);
        poller = new Poller(sleeper, this::ready);
        watcher = new KeyWatcher(this, sleeper, poller);
        spinner = new Spin(provider.config().spinNs());
    }

    private void ensureOpen() {
        if (!isOpen()) {
            throw new ClosedSelectorException();
        }
    }

    @Override
    public Set<SelectionKey> keys() {
        ensureOpen();
        return publicKeys;
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        ensureOpen();
        return selectedKeys;
    }

    // --- selecting

    @Override
    public int selectNow() throws IOException {
        return select(null, 0L, false);
    }

    @Override
    public int select(long timeout) throws IOException {
        return select(null, checkTimeout(timeout), true);
    }

    @Override
    public int select() throws IOException {
        return select(null, -1L, true);
    }

    @Override
    public int select(Consumer<SelectionKey> action, long timeout) throws IOException {
        Objects.requireNonNull(action);
        return select(action, checkTimeout(timeout), true);
    }

    @Override
    public int select(Consumer<SelectionKey> action) throws IOException {
        return select(Objects.requireNonNull(action), -1L, true);
    }

    @Override
    public int selectNow(Consumer<SelectionKey> action) throws IOException {
        return select(Objects.requireNonNull(action), 0L, false);
    }

    /** The javadoc's time-out as ours, for which -1 is for ever. */
    private static long checkTimeout(long timeout) {
        if (timeout < 0) {
            throw new IllegalArgumentException("Negative timeout");
        }
        return timeout == 0 ? -1 : timeout;
    }

    private int select(Consumer<SelectionKey> action, long timeoutMs, boolean blocking) throws IOException {
        synchronized (this) {
            ensureOpen();
            if (inSelect) {
                throw new IllegalStateException("select in progress");
            }
            inSelect = true;
            try {
                synchronized (selectedKeys) {
                    return lockedSelect(action, timeoutMs, blocking);
                }
            } finally {
                forgetFound();
                inSelect = false;
            }
        }
    }

    private int lockedSelect(Consumer<SelectionKey> action, long timeoutMs, boolean blocking) throws IOException {
        prepare();
        if (blocking) {
            collectBlocking(timeoutMs);
        } else {
            collectNow();
        }
        flushCancelled();
        watcher.flush();
        int n = publish(action);
        if (wakeup.get()) {
            wakeup.set(false);
        }
        return n;
    }

    private void collectNow() throws IOException {
        boolean unused = poller.poll();
        if (found.isEmpty() || kernelCheckDue()) {
            checkKernel();
        }
    }

    /** Until something is found, the time is over, or the operation must return early. */
    private void collectBlocking(long timeoutMs) throws IOException {
        long startNs = timeoutMs > 0 || poller.hasActive() ? System.nanoTime() : 0;
        boolean any = poller.poll();
        if (any) {
            if (kernelCheckDue()) {
                checkKernel();
            }
            return;
        }
        while (!mustReturn()) {
            if (spin(startNs, timeoutMs) || poller.arm()) {
                return;
            }
            long leftMs = leftMs(startNs, timeoutMs);
            if (leftMs == 0) {
                break;
            }
            sleep(leftMs);
            prepare();
            any = poller.poll();
            if (anyFound()) {
                return;
            }
        }
        checkKernel();
    }

    private static long leftMs(long startNs, long timeoutMs) {
        if (timeoutMs < 0) {
            return -1;
        }
        long elapsedNs = System.nanoTime() - startNs;
        long wholeMs = elapsedNs / 1_000_000;
        return Math.max(0, timeoutMs - wholeMs);
    }

    /** Wakeup, interrupt or close: what is ready now is still reported. */
    private boolean mustReturn() {
        return wakeup.get() || !isOpen() || Thread.currentThread().isInterrupted();
    }

    private void sleep(long leftMs) throws IOException {
        boolean streams = poller.usesEpoll();
        if (!streams) {
            watcher.sleep(leftMs); // in the JDK selector, which has a hook for interrupts of its own
            return;
        }
        long startNs = System.nanoTime();
        begin();
        try {
            watcher.sleep(leftMs);
        } finally {
            end();
        }
        lastKernelCheckNs = System.nanoTime();
        if (poller.hasActive()) {
            spinner.slept(lastKernelCheckNs - startNs);
        }
    }

    /** Looks for events without waiting. */
    private void checkKernel() throws IOException {
        watcher.sleep(0);
        prepare();
        if (poller.usesEpoll()) {
            lastKernelCheckNs = System.nanoTime();
            boolean unused = poller.poll();
        }
    }

    private boolean kernelCheckDue() {
        return System.nanoTime() - lastKernelCheckNs >= KERNEL_CHECK_NS;
    }

    /** Polls for a while; true if something is found. */
    private boolean spin(long startNs, long timeoutMs) {
        long budgetNs = poller.hasActive() ? spinner.begin() : 0;
        if (budgetNs == 0) {
            return false;
        }
        long fromNs = System.nanoTime();
        if (timeoutMs > 0) {
            budgetNs = Math.min(budgetNs, startNs + timeoutMs * 1_000_000 - fromNs);
        }
        boolean any = false;
        long elapsedNs = 0;
        while (!any && !hasWork() && elapsedNs < budgetNs) {
            spinner.relax(elapsedNs);
            any = poller.peek() && poller.poll();
            elapsedNs = System.nanoTime() - fromNs;
        }
        spinner.end(any || hasWork());
        return any;
    }

    /** Whether a thread about to sleep must look again instead. */
    private boolean hasWork() {
        return wakeup.get() || inbox.isUrgent() || !isOpen();
    }

    // --- what is found

    private void innerReady(SelectionKey innerKey) {
        if (innerKey.attachment() instanceof RdmaKey key) {
            ready(key, innerKey.readyOps());
        }
    }

    private void fdReady(int fd) {
        poller.fired(fd);
    }

    private void ready(RdmaKey key, int ops) {
        if (key.found == 0 && ops != 0) {
            found.add(key);
        }
        key.found |= ops;
    }

    /** Whether there is something to report; a key whose channel closed meanwhile is no reason to return. */
    private boolean anyFound() {
        for (int i = found.size() - 1; i >= 0; i--) {
            if (!found.get(i).isAlive()) {
                found.remove(i).found = 0;
            }
        }
        return !found.isEmpty();
    }

    /** After an exception, keys may be left that were not told. */
    private void forgetFound() {
        for (int i = 0; i < found.size(); i++) {
            found.get(i).found = 0;
        }
        found.clear();
    }

    private int publish(Consumer<SelectionKey> action) {
        int n = 0;
        for (int i = 0; i < found.size(); i++) {
            RdmaKey key = found.get(i);
            int ops = key.found & key.interest();
            key.found = 0;
            if (ops != 0 && key.isAlive()) {
                n += action == null ? select(key, ops) : perform(action, key, ops);
            }
        }
        return n;
    }

    private int select(RdmaKey key, int ops) {
        if (key.selectedIndex < 0) {
            key.ready(ops);
            selectedKeys.select(key);
            return 1;
        }
        int old = key.ready();
        key.ready(old | ops);
        return (ops & ~old) != 0 ? 1 : 0;
    }

    private int perform(Consumer<SelectionKey> action, RdmaKey key, int ops) {
        key.ready(ops);
        action.accept(key);
        ensureOpen();
        return 1;
    }

    @Override
    public Selector wakeup() {
        if (!wakeup.get()) {
            wakeup.set(true);
        }
        sleeper.kick();
        return this;
    }

    // --- what other threads leave

    /** A key's interest set changed: seen by the next selection operation, as the javadoc says. */
    void update(RdmaKey key) {
        inbox.update(key, false);
    }

    /** A key's channel is made of something else: a selection operation under way looks at it, too. */
    void updateNow(RdmaKey key) {
        inbox.update(key, true);
        sleeper.kick();
    }

    /** Another thread changed a stream's readiness. */
    void readinessChanged(PollWatch watch) {
        inbox.news(watch);
        sleeper.kick();
    }

    /**
     * A key was just cancelled. The inner key goes with it at once, so that the channel can be made blocking. A JDK
     * channel is deregistered from this selector before that: the JDK closes its descriptor when the inner
     * registration goes, but only if that was the last one.
     */
    void keyCancelled(RdmaKey key) {
        if (!(key.channel() instanceof WatchedChannel)) {
            deregister(key);
        }
        SelectionKey inner = key.innerKey();
        if (inner != null) {
            inner.cancel();
        }
        inbox.cancelled(key);
        sleeper.kick();
    }

    private void prepare() throws IOException {
        flushCancelled();
        RdmaKey key;
        while ((key = inbox.nextUpdate()) != null) {
            if (key.isValid()) {
                watcher.sync(key);
            }
        }
        PollWatch watch;
        while ((watch = inbox.nextNews()) != null) {
            if (watch.isAttached()) {
                poller.activate(watch);
            }
        }
    }

    // --- keys

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int ops, Object attachment) {
        boolean jdks = channel.getClass().getModule() == Object.class.getModule();
        if (!jdks && !(channel instanceof WatchedChannel)) {
            throw new IllegalSelectorException();
        }
        ensureOpen();
        RdmaKey key = new RdmaKey(this, channel, ops);
        key.attach(attachment);
        keys.add(key);
        if (channel instanceof WatchedChannel watched) {
            watched.keyAdded(key);
        }
        update(key);
        if (!isOpen()) {
            keys.remove(key);
            forgetKey(key);
            key.cancel();
            throw new ClosedSelectorException();
        }
        return key;
    }

    private static void forgetKey(RdmaKey key) {
        if (key.channel() instanceof WatchedChannel watched) {
            watched.keyRemoved(key);
        }
    }

    private void flushCancelled() {
        RdmaKey key = inbox.nextCancelled();
        if (key == null) {
            return;
        }
        for (; key != null; key = inbox.nextCancelled()) {
            drop(key);
            keys.remove(key);
        }
        // AbstractSelector's own set is not used; a key that comes to it late goes with the next
        Set<SelectionKey> javas = cancelledKeys();
        synchronized (javas) {
            javas.clear();
        }
    }

    private void drop(RdmaKey key) {
        watcher.drop(key);
        forgetKey(key);
        boolean unused = selectedKeys.remove(key);
        deregister(key);
    }

    @Override
    protected void implCloseSelector() throws IOException {
        wakeup();
        synchronized (this) {
            synchronized (selectedKeys) {
                if (closed) {
                    return;
                }
                closed = true;
                for (SelectionKey key : keys) {
                    drop((RdmaKey) key);
                }
                keys.clear();
                sleeper.close();
            }
        }
    }

    @Override
    public String toString() {
        return "io.verbena.spi.RdmaSelector[" + keys.size() + " keys]";
    }
}
