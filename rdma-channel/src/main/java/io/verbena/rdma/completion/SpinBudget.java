package io.verbena.rdma.completion;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long one waiting place polls before it sleeps: for as long as a sleep and its wake-up would take, or not at all
 * where that does not pay.
 *
 * <p>A spin that finds something is repeated. One that does not is not, until some sleeps were so short that a spin
 * would have spared them; twice as many each time in a row, for a spin may well be what keeps the peer from its
 * processor, and a short sleep what gave it one. At most half of the processors spin at once, over the whole process.
 * Used by one thread at a time; a race costs accuracy only.
 */
public final class SpinBudget {
    /** System property: the longest spin in microseconds, 0 for never. */
    public static final String PROPERTY = "io.verbena.spin";

    /** The default of {@value #PROPERTY}: about what a sleep and its wake-up take. */
    public static final int DEFAULT_MICROS = 20;

    static final int FIRST_PAUSE = 4;
    static final int LAST_PAUSE = 1024;

    private static final int MAX_MICROS = 1_000_000;

    /** A sleep of up to so many spins was a short one: it has the wake-up in it. */
    private static final int SHORT_SLEEP = 4;

    private static final int MAX_SPINNERS = Runtime.getRuntime().availableProcessors() / 2;
    private static final AtomicInteger SPINNERS = new AtomicInteger();

    private final long maxNs;

    /** Short sleeps to come before the next spin. */
    private int pause;

    private int nextPause = FIRST_PAUSE;

    /**
     * A place that spins.
     *
     * @param maxNs the longest spin in nanoseconds, 0 for never
     */
    public SpinBudget(long maxNs) {
        this.maxNs = maxNs;
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
        if (pause > 0 || maxNs == 0) {
            return 0;
        }
        if (SPINNERS.incrementAndGet() > MAX_SPINNERS) {
            SPINNERS.decrementAndGet();
            return 0;
        }
        return maxNs;
    }

    /** Ends a spin; {@code found} says whether it found what it waited for. */
    public void end(boolean found) {
        SPINNERS.decrementAndGet();
        if (found) {
            nextPause = FIRST_PAUSE;
        } else {
            pause = nextPause;
            nextPause = Math.min(2 * nextPause, LAST_PAUSE);
        }
    }

    /** Tells how long a sleep lasted, in nanoseconds. */
    public void slept(long ns) {
        if (pause > 0 && ns < SHORT_SLEEP * maxNs) {
            pause--;
        }
    }
}
