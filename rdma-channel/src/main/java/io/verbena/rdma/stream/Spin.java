package io.verbena.rdma.stream;

import io.verbena.rdma.completion.SpinBudget;

/**
 * How long a selector polls its streams before it sleeps: adapts to whether that pays. Used by one thread at a time.
 */
public final class Spin {
    private final SpinBudget budget;

    /**
     * A place that spins.
     *
     * @param maxNs the length of a spin in nanoseconds, 0 for never
     */
    public Spin(long maxNs) {
        budget = new SpinBudget(maxNs);
    }

    /**
     * What {@code io.verbena.spin} asks for.
     *
     * @return nanoseconds
     * @throws IllegalArgumentException if it has a value that is not allowed; the message names both
     */
    public static long configuredNs() {
        return SpinBudget.configuredNs();
    }

    /**
     * Begins a spin.
     *
     * @return nanoseconds to poll for, 0 to sleep at once; if more than 0, {@link #end} must follow
     */
    public long begin() {
        return budget.begin();
    }

    /** Waits between two polls of a spin; {@code elapsedNs} is the time since {@link #begin}. */
    public void relax(long elapsedNs) {
        budget.relax(elapsedNs);
    }

    /** Ends a spin; {@code found} says whether it found what it waited for. */
    public void end(boolean found) {
        budget.end(found);
    }

    /** Tells how long a sleep lasted, in nanoseconds. */
    public void slept(long ns) {
        budget.slept(ns);
    }
}
