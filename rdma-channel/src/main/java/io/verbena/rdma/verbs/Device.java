package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;

/**
 * What Verbena asks of a device beyond DiSNI's {@code IbvContext}; every backend's context implements it.
 *
 * <p>Thread-safe.
 */
public interface Device {
    /** What carries the device's messages. */
    DeviceTransport transport();

    /** The largest number of work requests a queue may hold (ibv_query_device(3): max_qp_wr). */
    int maxQpWr();

    /** The largest number of entries a completion queue may hold (max_cqe). */
    int maxCqe();

    /**
     * The largest number of bytes that IBV_SEND_INLINE takes, {@link Integer#MAX_VALUE} if any size: the device then
     * copies from {@link SendWr#setInlineSource} at the time of the post and needs no send ring.
     */
    int maxInlineData();

    /** Whether the device has RDMA WRITE WITH IMM (iWARP has not). */
    boolean hasWriteWithImm();

    /**
     * Makes a completion channel whose descriptor serves this connection alone.
     *
     * @param id a resolved or connecting id
     * @throws IOException if a descriptor can't be had
     */
    IbvCompChannel createCompChannel(RdmaCmId id) throws IOException;

    /**
     * Allocates zeroed memory that the device can register for access by the peer of {@code id}, and registers it.
     * Pages are taken when first touched. On soft, memory allocated after connect or accept must fit into what is
     * shared with the peer already; so reserve early what a ring may grow to.
     *
     * @param id the connection that will use the memory
     * @param pd the protection domain
     * @param bytes the size, at least 1
     * @param access IBV_ACCESS_ flags
     * @throws IOException if memory or keys are exhausted; the message names limit and remedy
     */
    RegisteredMemory allocate(RdmaCmId id, IbvPd pd, int bytes, int access) throws IOException;
}
