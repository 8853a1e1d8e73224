package io.verbena.rdma.backend.soft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A message of the connection set-up, one packet on the Unix socket; layout in {@link HandshakeDescriptor}.
 *
 * @param type REQUEST, ACCEPT or REJECT
 * @param idHigh with idLow: the pair's id
 * @param source the client's address (REQUEST), maybe null
 * @param destination the address that the client connects to (REQUEST), maybe null
 * @param qpNum the sender's queue pair
 * @param ringEntries entries of the ring in the sender's block
 * @param blockSegment index in {@code segments} of the sender's block
 * @param blockOffset offset of the block there
 * @param segments the sender's segments that this connection uses; a descriptor for each travels with the message
 * @param status REJECT: the reason
 * @param privateData the program's bytes
 */
record Handshake(
        int type,
        long idHigh,
        long idLow,
        InetSocketAddress source,
        InetSocketAddress destination,
        int qpNum,
        int ringEntries,
        int blockSegment,
        long blockOffset,
        List<Part> segments,
        int status,
        byte[] privateData) {

    /** A segment's name and size. */
    record Part(long id, long bytes) {}

    static Handshake reject(int status, byte[] privateData) {
        return new Handshake(HandshakeDescriptor.REJECT, 0, 0, null, null, 0, 0, 0, 0, List.of(), status, privateData);
    }

    byte[] encode() {
        ByteBuffer b = ByteBuffer.allocate(HandshakeDescriptor.PRIVATE_DATA + privateData.length)
                .order(ByteOrder.nativeOrder());
        b.putInt(HandshakeDescriptor.MAGIC).putShort(HandshakeDescriptor.VERSION);
        b.put((byte) type).put((byte) segments.size()).putLong(idHigh).putLong(idLow);
        NetAddress.put(b, source);
        NetAddress.put(b, destination);
        b.putInt(qpNum).putInt(ringEntries).putInt(blockSegment).putInt(status).putLong(blockOffset);
        for (Part part : segments) {
            b.putLong(part.id()).putLong(part.bytes());
        }
        b.put(HandshakeDescriptor.PRIVATE_DATA, privateData);
        return b.array();
    }

    /**
     * Reads a message.
     *
     * @throws IOException if it is none of ours; a wrong version is named
     */
    static Handshake decode(byte[] message) throws IOException {
        ByteBuffer b = ByteBuffer.wrap(message).order(ByteOrder.nativeOrder());
        if (message.length < HandshakeDescriptor.PRIVATE_DATA || b.getInt() != HandshakeDescriptor.MAGIC) {
            throw new IOException("the peer does not speak the soft device's protocol");
        }
        short version = b.getShort();
        if (version != HandshakeDescriptor.VERSION) {
            throw new IOException("the peer speaks version " + version + " of the soft device's protocol, we speak "
                    + HandshakeDescriptor.VERSION);
        }
        int type = b.get();
        int parts = b.get();
        if (parts < 0 || parts > HandshakeDescriptor.MAX_SEGMENTS) {
            throw new IOException("the peer announces " + parts + " segments");
        }
        long idHigh = b.getLong();
        long idLow = b.getLong();
        InetSocketAddress source = NetAddress.get(b);
        InetSocketAddress destination = NetAddress.get(b);
        int qpNum = b.getInt();
        int ringEntries = b.getInt();
        int blockSegment = b.getInt();
        int status = b.getInt();
        long blockOffset = b.getLong();
        List<Part> segments = new ArrayList<>();
        for (int i = 0; i < parts; i++) {
            segments.add(new Part(b.getLong(), b.getLong()));
        }
        byte[] privateData = new byte[message.length - HandshakeDescriptor.PRIVATE_DATA];
        b.get(HandshakeDescriptor.PRIVATE_DATA, privateData);
        return new Handshake(
                type,
                idHigh,
                idLow,
                source,
                destination,
                qpNum,
                ringEntries,
                blockSegment,
                blockOffset,
                segments,
                status,
                privateData);
    }
}
