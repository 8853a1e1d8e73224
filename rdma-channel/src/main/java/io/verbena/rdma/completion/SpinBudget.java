package io.verbena.rdma.completion;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long one waiting place polls before it sleeps: adapts to whether polling pays there.
 *
 * <p>A spin that finds something keeps the budget, one that does not halves it, a sleep that would have fitted into the
 * full budget restores it. At most half of the processors spin at once, over the whole process. Used by one thread at
 * a time; a race costs accuracy only.
 */
public final class SpinBudget {
    /** The default of {@code io.verbena.spin}, in microseconds. */
    public static final int DEFAULT_MICROS = 50;

    private static final long MIN_NS = 1_000;
    private static final int MAX_SPINNERS = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    private static final AtomicInteger SPINNERS = new AtomicInteger();
    private static final long CONFIGURED_NS = configuredNs();

    private final long maxNs;
    private long budgetNs;

    /** A place with the budget of {@code io.verbena.spin}. */
    public SpinBudget() {
        this(CONFIGURED_NS);
    }

    SpinBudget(long maxNs) {
        this.maxNs = maxNs;
        this.budgetNs = maxNs;
    }

    private static long configuredNs() {
        String value = System.getProperty("io.verbena.spin");
        if (value == null) {
            return DEFAULT_MICROS * 1_000L;
        }
        try {
            int micros = Integer.parseInt(value.trim());
            if (micros >= 0 && micros <= 1_000_000) {
                return micros * 1_000L;
            }
        } catch (NumberFormatException e) {
            throw refused(value, e);
        }
        throw refused(value, null);
    }

    private static IllegalArgumentException refused(String value, Throwable cause) {
        return new IllegalArgumentException(
                "io.verbena.spin=" + value + ": expected microseconds from 0 (never poll before sleeping) to 1000000",
                cause);
    }

    /**
     * Begins a spin.
     *
     * @return nanoseconds to poll for, 0 to sleep at once; if more than 0, {@link #end} must follow
     */
    public long begin() {
        long ns = budgetNs;
        if (ns < MIN_NS) {
            return 0;
        }
        if (SPINNERS.incrementAndGet() > MAX_SPINNERS) {
            SPINNERS.decrementAndGet();
            return 0;
        }
        return ns;
    }

    /** Ends a spin; {@code found} says whether it found what it waited for. */
    public void end(boolean found) {
        SPINNERS.decrementAndGet();
        if (!found) {
            budgetNs = budgetNs / 2;
        }
    }

    /** Tells how long a sleep lasted, in nanoseconds. */
    public void slept(long ns) {
        if (ns < maxNs) {
            budgetNs = maxNs;
        }
    }
}
