package io.verbena.rdma.backend.foreign;

import com.ibm.disni.verbs.RdmaEventChannel;
import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.verbs.Verbs;
import io.verbena.rdma.verbs.VerbsBackend;
import java.io.File;
import java.io.IOException;

/**
 * The backend over rdma-core's librdmacm and libibverbs, for real devices and the kernel's software ones (rxe, siw).
 *
 * <p>Thread-safe.
 */
public final class ForeignBackend implements VerbsBackend {
    private static final File DEVICES = new File("/sys/class/infiniband");

    static {
        Verbs.install();
    }

    /** The backend; nothing is loaded before {@link #createEventChannel}. */
    public ForeignBackend() {}

    @Override
    public String name() {
        return "foreign";
    }

    @Override
    public RdmaEventChannel createEventChannel() throws IOException {
        requireDevice();
        NativeLibraries.require();
        ForkSafety.require();
        return ForeignEventChannel.create();
    }

    /** librdmacm would print to stderr instead. */
    private static void requireDevice() throws IOException {
        String[] devices = DEVICES.list();
        if (devices == null || devices.length == 0) {
            throw new IOException("no RDMA device: " + DEVICES + (devices == null ? " does not exist" : " is empty")
                    + "; for one in software: rdma link add rxe0 type rxe netdev IFACE");
        }
    }

    /** Once a process, before the first registration: a child of ProcessBuilder shall not share registered pages. */
    private static final class ForkSafety {
        private static final int STATUS = VerbsCalls.forkInit();

        static void require() throws IOException {
            if (STATUS < 0) {
                throw new IOException("ibv_fork_init failed: " + Errno.describe(-STATUS)
                        + "; memory was registered in this process before, or the kernel lacks MADV_DONTFORK");
            }
        }
    }
}
