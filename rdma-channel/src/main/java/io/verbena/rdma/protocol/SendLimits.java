package io.verbena.rdma.protocol;

/**
 * What the sending side's device can do.
 *
 * @param sqDepth send queue slots of the queue pair, more than {@link ProtocolLimits#CONTROL_SLOTS} by at least one
 *     DATA message
 * @param signalInterval one of so many requests is signalled, at least 1
 * @param inlineLimit greatest length in bytes that is copied while it is posted; {@link #INLINE_ANY} if any is
 * @param sendRingBytes size in bytes of the local send ring, a power of two; 0 with {@link #INLINE_ANY}
 * @param codec how immediates travel
 */
public record SendLimits(int sqDepth, int signalInterval, int inlineLimit, int sendRingBytes, ImmediateCodec codec) {
    /** {@code inlineLimit} of a device that copies any length while it is posted: no send ring is used. */
    public static final int INLINE_ANY = Integer.MAX_VALUE;

    /**
     * Checks the limits.
     *
     * @throws IllegalArgumentException naming the value that is out of range
     */
    public SendLimits {
        int minDepth = ProtocolLimits.CONTROL_SLOTS + codec.slotsPerData();
        if (sqDepth < minDepth) {
            throw new IllegalArgumentException("sqDepth=" + sqDepth + " < " + minDepth + " (control slots + one DATA)");
        }
        if (signalInterval < 1) {
            throw new IllegalArgumentException("signalInterval=" + signalInterval + " < 1");
        }
        if (inlineLimit < 0) {
            throw new IllegalArgumentException("inlineLimit=" + inlineLimit + " < 0");
        }
        if (inlineLimit != INLINE_ANY && Integer.bitCount(sendRingBytes) != 1) {
            throw new IllegalArgumentException("sendRingBytes=" + sendRingBytes + " is no power of two");
        }
    }
}
