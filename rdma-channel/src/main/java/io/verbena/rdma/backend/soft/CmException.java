package io.verbena.rdma.backend.soft;

import io.verbena.rdma.sys.Errno;
import java.io.IOException;
import java.io.Serial;

/** A failed step of the connection set-up with its errno, which becomes the event's status. */
final class CmException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    /** Negative errno. */
    final int status;

    CmException(String call, int status) {
        super(call + " failed: " + Errno.describe(-status));
        this.status = status;
    }
}
