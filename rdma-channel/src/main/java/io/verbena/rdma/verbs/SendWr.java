package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.SVCPostSend;
import java.nio.ByteBuffer;

/**
 * A prepared send work request with the fields that DiSNI's modifier can't set; every backend's
 * {@link SVCPostSend#getWrMod} returns one. Not thread-safe.
 */
public interface SendWr extends SVCPostSend.SendWRMod {
    /** Sets the opcode (IbvSendWR.IBV_WR_…). */
    void setOpcode(int opcode);

    /** Sets the immediate data, delivered to the peer as the same int. */
    void setImm_data(int immediate);

    /** Sets how many of the prepared scatter/gather elements count; 0 sends an empty message. */
    void setNum_sge(int count);

    /**
     * Takes the payload from a buffer at the time of the post (IBV_SEND_INLINE), in place of the scatter/gather
     * elements; the buffer may be on the heap or read-only, its position and limit are left alone, and it is free
     * again when the post returns. Cleared by {@link #setNum_sge}.
     *
     * @param source the buffer
     * @param offset absolute index of the first byte
     * @param length bytes, at most {@link Device#maxInlineData}
     */
    void setInlineSource(ByteBuffer source, int offset, int length);
}
