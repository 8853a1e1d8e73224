package io.verbena.rdma.stream;

/** Told when a stream's readiness may have changed by another thread's doing: a selector's wake-up. */
@FunctionalInterface
public interface ReadinessListener extends Runnable {
    /** Called from any thread, maybe with locks of the stream held: must not block or call the stream. */
    void readinessChanged();

    @Override
    default void run() {
        readinessChanged();
    }
}
