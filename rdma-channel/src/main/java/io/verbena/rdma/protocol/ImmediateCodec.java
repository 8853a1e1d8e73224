package io.verbena.rdma.protocol;

/** How an immediate travels, which depends on the device (PROTOCOL.md, section 4). */
public enum ImmediateCodec {
    /**
     * InfiniBand, RoCE and soft: one RDMA WRITE WITH IMM. DATA writes its bytes; control messages have no bytes. The
     * receives need no scatter entries.
     */
    WRITE_WITH_IMM(1, 0),

    /**
     * iWARP, which has no immediates: DATA is an RDMA WRITE followed by a SEND of {@link #sendPayloadBytes()} bytes,
     * the immediate in network order; a control message is that SEND alone. Each receive needs a scatter entry of as
     * many bytes. RC ordering makes the written bytes visible before the SEND completes at the receiver.
     */
    WRITE_THEN_SEND(2, Integer.BYTES);

    private final int slotsPerData;
    private final int sendPayloadBytes;

    ImmediateCodec(int slotsPerData, int sendPayloadBytes) {
        this.slotsPerData = slotsPerData;
        this.sendPayloadBytes = sendPayloadBytes;
    }

    /**
     * Send queue slots that a DATA message takes; a control message takes one. The last of a message's requests
     * carries its wr_id and its signalled flag.
     *
     * @return 1 or 2
     */
    public int slotsPerData() {
        return slotsPerData;
    }

    /**
     * Bytes of the SEND that carries the immediate.
     *
     * @return 4, or 0 if the immediate is in the work completion
     */
    public int sendPayloadBytes() {
        return sendPayloadBytes;
    }

    /**
     * What byte_len of the receive's work completion must be.
     *
     * @param immediate the immediate that came with it
     * @return length in bytes
     */
    public int expectedByteLen(int immediate) {
        if (this == WRITE_THEN_SEND) {
            return sendPayloadBytes;
        }
        return Immediate.kind(immediate) == Immediate.DATA ? Immediate.dataBytes(immediate) : 0;
    }
}
