package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.RdmaEventChannel;
import io.verbena.rdma.verbs.Verbs;
import io.verbena.rdma.verbs.VerbsBackend;
import java.io.IOException;

/** The soft device as a verbs backend. Stateless; opens nothing before the first event channel. Thread-safe. */
public final class SoftBackend implements VerbsBackend {
    /** Makes a backend; all instances lead to the same device. */
    public SoftBackend() {}

    @Override
    public String name() {
        return "soft";
    }

    @Override
    public RdmaEventChannel createEventChannel() throws IOException {
        Verbs.install();
        return SoftEventChannel.create();
    }

    /** The device; made when the first event channel is. */
    static SoftContext context() {
        return Holder.CONTEXT;
    }

    private static final class Holder {
        static final SoftContext CONTEXT = open();

        private static SoftContext open() {
            try {
                return new SoftContext();
            } catch (IOException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }
}
