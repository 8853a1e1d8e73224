package io.verbena.bench.demo.program;

/**
 * One-way transfers: the sender announces 8 bytes of length, sends that many bytes in chunks of 64 KiB, and the receiver
 * answers with the 8 bytes of length once it has all of them.
 */
final class Bulk {
    static final int CHUNK_BYTES = 64 * 1024;

    private static final long WARM_UP_BYTES = 128L << 20;
    private static final long MAX_BYTES = 8L << 30;

    private Bulk() {}

    /** Sends that many bytes and returns when the receiver has them. */
    @FunctionalInterface
    interface Transfer {
        void run(long bytes) throws Exception;
    }

    /** Warms up, then measures a transfer that takes about the time given, in MB/s (10^6 bytes). */
    static void measure(int seconds, Transfer transfer) throws Exception {
        transfer.run(WARM_UP_BYTES);
        double bytesPerSecond = timed(WARM_UP_BYTES, transfer);
        long bytes = Math.clamp((long) (bytesPerSecond * seconds), 2 * CHUNK_BYTES, MAX_BYTES);
        bytes -= bytes % CHUNK_BYTES;
        Output.result("MBps", timed(bytes, transfer) / 1e6);
    }

    private static double timed(long bytes, Transfer transfer) throws Exception {
        long start = System.nanoTime();
        transfer.run(bytes);
        return bytes / ((System.nanoTime() - start) / 1e9);
    }
}
