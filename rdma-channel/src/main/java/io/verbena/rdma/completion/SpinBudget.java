package io.verbena.rdma.completion;

import io.verbena.rdma.sys.Processors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long one waiting place polls before it sleeps: for as long as a sleep and its wake-up would take, or not at all
 * where that does not pay.
 *
 * <p>A spin that finds something is repeated. One that does not is tried again only after short sleeps (that a spin
 * would have spared) of many times its length together; each time in a row the pause is twice as long, up to a bound.
 *
 * <p>A spin that lasts yields the processor. A wake-up, a synchronous one from a socket, puts the peer on the waker's
 * processor, and if the waker goes on spinning there the peer does not run. With both of them yielding they take turns.
 * Finds after a yield that another thread took, many in a row, show that this is so: then the thread moves to another processor, once (the
 * kernel does that by itself too, but may take tens of milliseconds). From then on every spin finds something at once.
 * If not, no processor is idle, and the spin counts as a failure.
 *
 * <p>At most half of the processors spin at once, over the whole process. Used by one thread at a time; a race costs
 * accuracy only.
 */
public final class SpinBudget {
    /** System property: how long to spin, in microseconds, 0 for never. */
    public static final String PROPERTY = "io.verbena.spin";

    /** The default of {@value #PROPERTY}: about what a sleep and its wake-up take. */
    public static final int DEFAULT_MICROS = 20;

    /** Short sleeps of so many times the length of a failed spin come before the next. */
    static final int PAUSE = 32;

    /** The pause is doubled up to so many times the first. */
    static final int PAUSE_GROWTH = 16;

    /** Finds in a row after a yield that was taken, before the thread moves to another processor. */
    static final int MOVE_AT = 32;

    /** Finds in a row after a yield that was taken, before the next such is a failure. */
    static final int MAX_LATE = 128;

    /** A yield that takes longer gave the processor to another thread. */
    private static final long EMPTY_YIELD_NS = 3_000;

    /** A peer that runs answers a small message within this. */
    private static final long YIELD_AFTER_NS = 5_000;

    private static final int MAX_MICROS = 1_000_000;

    /** A sleep of up to so many spins is a short one: it has the wake-up in it. */
    private static final int SHORT_SLEEP = 4;

    private static final int MAX_SPINNERS = Runtime.getRuntime().availableProcessors() / 2;
    private static final AtomicInteger SPINNERS = new AtomicInteger();

    private final long maxNs;

    /** Time in short sleeps to come before the next spin. */
    private long pauseNs;

    private long nextPauseNs;
    private boolean yielded;
    private int late;

    /**
     * A place that spins.
     *
     * @param maxNs the length of a spin in nanoseconds, 0 for never
     */
    public SpinBudget(long maxNs) {
        this.maxNs = maxNs;
        this.nextPauseNs = PAUSE * maxNs;
    }

    /**
     * What {@value #PROPERTY} asks for.
     *
     * @return nanoseconds
     * @throws IllegalArgumentException if it has a value that is not allowed; the message names both
     */
    public static long configuredNs() {
        String value = System.getProperty(PROPERTY);
        if (value == null) {
            return DEFAULT_MICROS * 1_000L;
        }
        try {
            int micros = Integer.parseInt(value.trim());
            if (micros >= 0 && micros <= MAX_MICROS) {
                return micros * 1_000L;
            }
        } catch (NumberFormatException e) {
            throw refused(value, e);
        }
        throw refused(value, null);
    }

    private static IllegalArgumentException refused(String value, Throwable cause) {
        return new IllegalArgumentException(
                PROPERTY + "=" + value + ": expected microseconds from 0 (never poll before sleeping) to " + MAX_MICROS,
                cause);
    }

    /**
     * Begins a spin.
     *
     * @return nanoseconds to poll for, 0 to sleep at once; if more than 0, {@link #end} must follow
     */
    public long begin() {
        if (pauseNs > 0 || maxNs == 0) {
            return 0;
        }
        if (SPINNERS.incrementAndGet() > MAX_SPINNERS) {
            SPINNERS.decrementAndGet();
            return 0;
        }
        yielded = false;
        return maxNs;
    }

    /**
     * Waits between two polls of a spin.
     *
     * @param elapsedNs time since {@link #begin}
     */
    @SuppressWarnings("ThreadPriorityCheck") // the class comment says why
    public void relax(long elapsedNs) {
        if (elapsedNs < YIELD_AFTER_NS) {
            Thread.onSpinWait();
        } else {
            long fromNs = System.nanoTime();
            Thread.yield();
            yielded |= System.nanoTime() - fromNs > EMPTY_YIELD_NS;
        }
    }

    /** Ends a spin; {@code found} says whether it found what it waited for. */
    public void end(boolean found) {
        SPINNERS.decrementAndGet();
        late = yielded ? late + 1 : 0;
        if (found && late <= MAX_LATE) {
            if (late == 0) {
                nextPauseNs = PAUSE * maxNs;
            } else if (late == MOVE_AT && !Thread.currentThread().isVirtual()) {
                boolean unused = Processors.leaveCurrent();
            }
            return;
        }
        late = 0;
        pauseNs = nextPauseNs;
        nextPauseNs = Math.min(2 * nextPauseNs, PAUSE_GROWTH * PAUSE * maxNs);
    }

    /** Tells how long a sleep lasted, in nanoseconds. */
    public void slept(long ns) {
        if (pauseNs > 0 && ns < SHORT_SLEEP * maxNs) {
            pauseNs -= ns;
        }
    }
}
