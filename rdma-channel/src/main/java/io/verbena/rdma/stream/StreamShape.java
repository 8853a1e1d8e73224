package io.verbena.rdma.stream;

import io.verbena.rdma.cm.Endpoint;
import io.verbena.rdma.protocol.CreditTerms;
import io.verbena.rdma.protocol.ImmediateCodec;
import io.verbena.rdma.protocol.ProtocolLimits;
import io.verbena.rdma.protocol.RingOffer;
import io.verbena.rdma.protocol.SendLimits;
import io.verbena.rdma.verbs.Device;
import java.io.IOException;

/**
 * The sizes of a stream on one device: what the settings want and the device has.
 *
 * @param ringBytesLog2 log2 of the receive ring
 * @param dataWrs receives for DATA
 * @param sendLimits the sending side
 */
record StreamShape(int ringBytesLog2, int dataWrs, SendLimits sendLimits) {
    /** How many receives an RDMA device gets: some 64 bytes of pinned memory each, in the device and its queue. */
    private static final int DEVICE_RECEIVE_WRS = 2048;

    /**
     * The shape for a device.
     *
     * @throws IOException if the device is too small
     */
    static StreamShape of(Device device, int ringBytesLog2) throws IOException {
        int sqDepth = Math.min(StreamSettings.SEND_WRS, device.maxQpWr());
        if (device.maxInlineData() == Integer.MAX_VALUE) {
            var limits = new SendLimits(
                    sqDepth, StreamSettings.SIGNAL_INTERVAL, SendLimits.INLINE_ANY, 0, ImmediateCodec.WRITE_WITH_IMM);
            return new StreamShape(ringBytesLog2, StreamSettings.DATA_WRS, limits);
        }
        int receives = Math.min(DEVICE_RECEIVE_WRS, Math.min(device.maxQpWr(), device.maxCqe() - sqDepth));
        int dataWrs = receives - ProtocolLimits.CONTROL_WRS;
        if (dataWrs < ProtocolLimits.MIN_DATA_WRS) {
            throw new IOException(
                    device + " is too small: max_qp_wr=" + device.maxQpWr() + ", max_cqe=" + device.maxCqe());
        }
        return new StreamShape(ringBytesLog2, dataWrs, limits(device, sqDepth));
    }

    private static SendLimits limits(Device device, int sqDepth) throws IOException {
        ImmediateCodec codec =
                device.hasWriteWithImm() ? ImmediateCodec.WRITE_WITH_IMM : ImmediateCodec.WRITE_THEN_SEND;
        if (device.maxInlineData() < codec.sendPayloadBytes()) {
            throw new IOException(device + " inlines " + device.maxInlineData() + " bytes, an immediate takes "
                    + codec.sendPayloadBytes());
        }
        int interval = Math.min(StreamSettings.SIGNAL_INTERVAL, Math.max(1, sqDepth / 4));
        return new SendLimits(sqDepth, interval, device.maxInlineData(), StreamSettings.SEND_RING_BYTES, codec);
    }

    Endpoint.Sizes sizes() {
        return new Endpoint.Sizes(
                sendLimits.sqDepth(),
                ProtocolLimits.receiveWrs(dataWrs),
                1 << ringBytesLog2,
                StreamSettings.TRAILER_BYTES,
                sendLimits.sendRingBytes(),
                sendLimits.codec().sendPayloadBytes());
    }

    CreditTerms terms() {
        return CreditTerms.of(ringBytesLog2, dataWrs);
    }

    RingOffer offer(Endpoint endpoint) {
        return new RingOffer(endpoint.region().getAddr(), endpoint.region().getRkey(), ringBytesLog2, dataWrs);
    }
}
