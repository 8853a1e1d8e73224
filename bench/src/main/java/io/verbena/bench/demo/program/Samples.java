package io.verbena.bench.demo.program;

import java.util.Arrays;

/** Times of round trips; those past the capacity are dropped. Not thread-safe. */
final class Samples {
    private static final int CAPACITY = 2_000_000;

    private final long[] timesNs = new long[CAPACITY];
    private int count;

    void clear() {
        count = 0;
    }

    void add(long timeNs) {
        if (count < CAPACITY) {
            timesNs[count++] = timeNs;
        }
    }

    /** Prints the median and the 99th percentile in microseconds. */
    void report() {
        if (count == 0) {
            throw new IllegalStateException("no round trip was completed");
        }
        Arrays.sort(timesNs, 0, count);
        Output.result("p50us", percentileUs(50));
        Output.result("p99us", percentileUs(99));
    }

    private double percentileUs(int percent) {
        return timesNs[(int) ((count - 1) * (long) percent / 100)] / 1e3;
    }
}
