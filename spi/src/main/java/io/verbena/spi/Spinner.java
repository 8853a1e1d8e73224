package io.verbena.spi;

/**
 * How long to spin before sleeping: longer where spinning finds something, down to nothing where it does not. Belongs
 * to one thread at a time.
 */
final class Spinner {
    private static final long LEAST_NS = 1_000;

    private final long maxNs;
    private long budgetNs;

    /** Spins at most {@code maxNs}; on a single processor never. */
    Spinner(long maxNs) {
        this.maxNs = Runtime.getRuntime().availableProcessors() > 1 ? maxNs : 0;
        this.budgetNs = this.maxNs;
    }

    /** Nanoseconds to spin now, 0 for not at all. */
    long budgetNs() {
        return budgetNs;
    }

    /** A spin found something. */
    void paid() {
        budgetNs = Math.min(maxNs, Math.max(LEAST_NS, budgetNs * 2));
    }

    /** A spin found nothing. */
    void failed() {
        budgetNs = budgetNs / 2 < LEAST_NS ? 0 : budgetNs / 2;
    }

    /** A sleep took {@code ns}: one that a full spin would have spared makes spinning worth another try. */
    void slept(long ns) {
        if (ns < maxNs) {
            paid();
        }
    }
}
