package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.RdmaConnParam;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * DiSNI's connection parameters with every setter working, and private data given as bytes. For any backend; not
 * thread-safe.
 */
public final class ConnParam extends RdmaConnParam {
    /** {@code rnr_retry_count} that means: retry for ever. */
    public static final byte RNR_RETRY_INFINITE = 7;

    /** Keeps the memory behind {@code private_data} alive. */
    private ByteBuffer privateData = ByteBuffer.allocateDirect(0);

    /** Parameters with no private data, 7 retries and endless RNR retries. */
    public ConnParam() {
        retry_count = 7;
        rnr_retry_count = RNR_RETRY_INFINITE;
    }

    /**
     * Sets the private data.
     *
     * @param data bytes from position to limit, copied; 56 at most for connect, 196 for accept
     * @throws IllegalArgumentException above 255 bytes
     */
    public void setPrivateData(ByteBuffer data) {
        if (data.remaining() > 255) {
            throw new IllegalArgumentException("private data of " + data.remaining() + " bytes; 255 at most");
        }
        privateData = ByteBuffer.allocateDirect(data.remaining())
                .put(data.duplicate())
                .flip();
        private_data_addr = MemorySegment.ofBuffer(privateData).address();
        private_data_len = (byte) privateData.remaining();
    }

    /** The private data that {@link #setPrivateData} got; a read-only view. */
    public ByteBuffer privateData() {
        return privateData.asReadOnlyBuffer();
    }

    @Override
    public void setResponder_resources(byte value) {
        responder_resources = value;
    }

    @Override
    public void setInitiator_depth(byte value) {
        initiator_depth = value;
    }

    @Override
    public void setFlow_control(byte value) {
        flow_control = value;
    }

    @Override
    public void setRetry_count(byte value) {
        retry_count = value;
    }

    @Override
    public void setSrq(byte value) {
        srq = value;
    }

    @Override
    public void setQp_num(int value) {
        qp_num = value;
    }
}
