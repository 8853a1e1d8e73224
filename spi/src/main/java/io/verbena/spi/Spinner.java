package io.verbena.spi;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long to spin before sleeping: longer where spinning finds something, down to nothing where it does not. At most
 * half of the processors spin at once in selectors of this process. Belongs to one thread at a time.
 */
final class Spinner {
    private static final long LEAST_NS = 1_000;
    private static final int MAX_SPINNERS = Runtime.getRuntime().availableProcessors() / 2;
    private static final AtomicInteger SPINNING = new AtomicInteger();

    private final long maxNs;
    private long budgetNs;

    Spinner(long maxNs) {
        this.maxNs = maxNs;
        this.budgetNs = maxNs;
    }

    /** Nanoseconds to spin now, 0 for not at all; if not 0, {@link #end} must follow. */
    long begin() {
        if (budgetNs == 0) {
            return 0;
        }
        if (SPINNING.incrementAndGet() > MAX_SPINNERS) {
            SPINNING.decrementAndGet();
            return 0;
        }
        return budgetNs;
    }

    /** The spin is over; {@code paid} if it found something. */
    void end(boolean paid) {
        SPINNING.decrementAndGet();
        if (paid) {
            budgetNs = Math.min(maxNs, Math.max(LEAST_NS, budgetNs * 2));
        } else {
            budgetNs = budgetNs / 2 < LEAST_NS ? 0 : budgetNs / 2;
        }
    }

    /** A sleep took {@code ns}: one that a full spin would have spared makes spinning worth another try. */
    void slept(long ns) {
        if (ns < maxNs) {
            budgetNs = Math.min(maxNs, Math.max(LEAST_NS, budgetNs * 2));
        }
    }
}
