package io.verbena.rdma.stream;

import io.verbena.rdma.verbs.Verbs;

/** Holds the fabric of this process. */
final class StreamFabrics {
    private static final class Holder {
        static final StreamFabric FABRIC = new VerbsFabric(Verbs.backend());
    }

    private StreamFabrics() {}

    static StreamFabric fabric() {
        return Holder.FABRIC;
    }
}
