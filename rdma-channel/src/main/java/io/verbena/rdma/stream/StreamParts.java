package io.verbena.rdma.stream;

import com.ibm.disni.verbs.RdmaCmId;
import io.verbena.rdma.verbs.ConnParam;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;

/** What both sides of a connection set-up share. */
final class StreamParts {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.stream");

    private StreamParts() {}

    /** Parameters of connect and accept; RNR retries are endless, but never happen: credits bound what is sent. */
    static ConnParam connParam(ByteBuffer privateData) {
        var param = new ConnParam();
        param.setPrivateData(privateData);
        return param;
    }

    static void destroyQuietly(RdmaCmId id) {
        if (!id.isOpen()) {
            return;
        }
        try {
            int unused = id.destroyId();
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "rdma_destroy_id failed", e);
        }
    }
}
