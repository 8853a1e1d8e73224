package io.verbena.rdma.stream;

/** Holds the fabric of this process. */
final class StreamFabrics {
    private StreamFabrics() {}

    static StreamFabric fabric() {
        throw new UnsupportedOperationException("the fabric is not built yet");
    }
}
