package io.verbena.rdma.stream;

import com.ibm.disni.verbs.RdmaCmId;
import io.verbena.rdma.cm.Endpoint;
import io.verbena.rdma.protocol.ProtocolLimits;
import io.verbena.rdma.protocol.RingOffer;
import io.verbena.rdma.verbs.ConnParam;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;

/** What both sides of a connection set-up share. */
final class StreamParts {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.stream");

    private StreamParts() {}

    static Endpoint.Sizes sizes(int ringBytesLog2) {
        return new Endpoint.Sizes(
                StreamSettings.sendLimits().sqDepth(),
                ProtocolLimits.receiveWrs(StreamSettings.DATA_WRS),
                1 << ringBytesLog2,
                StreamSettings.TRAILER_BYTES);
    }

    static RingOffer offer(Endpoint endpoint, int ringBytesLog2) {
        return new RingOffer(
                endpoint.region().getAddr(), endpoint.region().getRkey(), ringBytesLog2, StreamSettings.DATA_WRS);
    }

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
