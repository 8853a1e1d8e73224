package io.verbena.rdma.stream;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import io.verbena.rdma.cm.Endpoint;
import io.verbena.rdma.protocol.ProtocolLimits;
import io.verbena.rdma.protocol.RingOffer;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** What both sides of a connection set-up share. */
final class StreamParts {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.stream");

    /** Retry without end (rdma_connect(3)); it never happens, since credits bound what is sent. */
    private static final byte RNR_RETRY_FOREVER = 7;

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

    /** Parameters with private data in a direct buffer, which must stay reachable until the call has returned. */
    static RdmaConnParam connParam(ByteBuffer privateData) throws IOException {
        var param = new RdmaConnParam();
        param.setPrivate_data(MemorySegment.ofBuffer(privateData).address());
        param.setPrivate_data_len((byte) privateData.remaining());
        param.setRetry_count((byte) 7);
        param.setRnr_retry_count(RNR_RETRY_FOREVER);
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
