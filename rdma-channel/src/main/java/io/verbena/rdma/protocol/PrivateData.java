package io.verbena.rdma.protocol;

import io.verbena.rdma.protocol.PrivateDataException.Fault;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The private data that the RDMA CM carries while a connection is set up (PROTOCOL.md, section 2): CONNECT from the
 * client (56 bytes at most), ACCEPT from the server (196), REJECT from the server (148).
 *
 * <pre>
 *      0       1       2       3       4       5       6       7
 *  +-------+-------+-------+-------+-------+-------+-------+-------+
 *  0 |           magic "VRBN"        | kind  |length | vmin  | vmax  |  all
 *  8 |rglog2 | flags |  source port  |             rkey              |  REJECT: 8 reason (16), 10 zero (16), end
 * 16 |                         ring address                          |
 * 24 |           data WRs            |            features           |  ACCEPT ends at 32
 * 32 |                        source address                         |
 * 40 |               (IPv6, or IPv4 mapped into it)                  |  CONNECT ends at 48
 * </pre>
 *
 * <p>Big endian. The length counts from the magic on, since InfiniBand pads; bytes beyond it are ignored, and bytes
 * within it but beyond what a kind has are left to later versions. The first 8 bytes are the same in every version.
 *
 * <p>Static functions only, safe for any thread. Encoders write from the buffer's position on and advance it; decoders
 * read the remaining bytes and leave the buffer as it is. Buffers may have any byte order.
 */
public final class PrivateData {
    /** Bytes of CONNECT. */
    public static final int CONNECT_BYTES = 48;

    /** Bytes of ACCEPT. */
    public static final int ACCEPT_BYTES = 32;

    /** Bytes of REJECT. */
    public static final int REJECT_BYTES = 12;

    static final int MAGIC = 0x5652424E;
    static final int KIND_CONNECT = 1;
    static final int KIND_ACCEPT = 2;
    static final int KIND_REJECT = 3;
    static final int HEAD_BYTES = 8;
    static final int KIND_AT = 4;
    static final int LENGTH_AT = 5;
    static final int VERSION_MIN_AT = 6;
    static final int VERSION_MAX_AT = 7;
    static final int REASON_AT = 8;
    static final int RING_LOG2_AT = 8;
    static final int FLAGS_AT = 9;
    static final int PORT_AT = 10;
    static final int RKEY_AT = 12;
    static final int RING_ADDRESS_AT = 16;
    static final int DATA_WRS_AT = 24;
    static final int FEATURES_AT = 28;
    static final int SOURCE_AT = 32;

    /**
     * What a client says.
     *
     * @param versions the versions that it speaks
     * @param features feature bits; 0 in version 1, unknown bits are to be ignored
     * @param flags flag bits, 0 to 255; 0 in version 1, unknown bits are to be ignored
     * @param ring its receive ring
     * @param sourcePort the port that its twin holds, 1 to 65535: a claim
     * @param sourceAddress the address that its twin holds: a claim; a scope id is not carried
     */
    public record Connect(
            VersionRange versions,
            int features,
            int flags,
            RingOffer ring,
            int sourcePort,
            InetAddress sourceAddress) {}

    /**
     * What a server answers.
     *
     * @param version the version that both will speak
     * @param features feature bits
     * @param flags flag bits, 0 to 255
     * @param ring its receive ring
     */
    public record Accept(int version, int features, int flags, RingOffer ring) {}

    /**
     * Why a server rejects.
     *
     * @param versions the versions that it speaks
     * @param reason the reason
     * @param code the reason's code, as it came
     */
    public record Reject(VersionRange versions, RejectReason reason, int code) {}

    private PrivateData() {}

    /**
     * Encodes CONNECT.
     *
     * @param connect what to say
     * @param target where to, with {@link #CONNECT_BYTES} remaining
     */
    public static void encode(Connect connect, ByteBuffer target) {
        ByteBuffer out = head(target, KIND_CONNECT, CONNECT_BYTES, connect.versions());
        putRing(out, connect.ring(), connect.flags(), connect.features());
        out.putShort(PORT_AT, (short) connect.sourcePort());
        out.put(SOURCE_AT, mapped(connect.sourceAddress()));
        target.position(target.position() + CONNECT_BYTES);
    }

    /**
     * Encodes ACCEPT.
     *
     * @param accept what to say
     * @param target where to, with {@link #ACCEPT_BYTES} remaining
     */
    public static void encode(Accept accept, ByteBuffer target) {
        VersionRange version = new VersionRange(accept.version(), accept.version());
        ByteBuffer out = head(target, KIND_ACCEPT, ACCEPT_BYTES, version);
        putRing(out, accept.ring(), accept.flags(), accept.features());
        target.position(target.position() + ACCEPT_BYTES);
    }

    /**
     * Encodes REJECT.
     *
     * @param reason the reason, not {@link RejectReason#OTHER}
     * @param target where to, with {@link #REJECT_BYTES} remaining
     */
    public static void encodeReject(RejectReason reason, ByteBuffer target) {
        ByteBuffer out = head(target, KIND_REJECT, REJECT_BYTES, VersionRange.SUPPORTED);
        out.putShort(REASON_AT, (short) reason.code());
        target.position(target.position() + REJECT_BYTES);
    }

    private static ByteBuffer head(ByteBuffer target, int kind, int bytes, VersionRange versions) {
        ByteBuffer out = target.slice(target.position(), bytes).order(ByteOrder.BIG_ENDIAN);
        for (int i = 0; i < bytes; i++) {
            out.put(i, (byte) 0);
        }
        out.putInt(0, MAGIC);
        out.put(KIND_AT, (byte) kind);
        out.put(LENGTH_AT, (byte) bytes);
        out.put(VERSION_MIN_AT, (byte) versions.min());
        out.put(VERSION_MAX_AT, (byte) versions.max());
        return out;
    }

    private static void putRing(ByteBuffer out, RingOffer ring, int flags, int features) {
        out.put(RING_LOG2_AT, (byte) ring.ringBytesLog2());
        out.put(FLAGS_AT, (byte) flags);
        out.putInt(RKEY_AT, ring.rkey());
        out.putLong(RING_ADDRESS_AT, ring.ringAddress());
        out.putInt(DATA_WRS_AT, ring.dataWrs());
        out.putInt(FEATURES_AT, features);
    }

    private static byte[] mapped(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (bytes.length == 16) {
            return bytes;
        }
        byte[] mapped = new byte[16];
        mapped[10] = (byte) 0xff;
        mapped[11] = (byte) 0xff;
        System.arraycopy(bytes, 0, mapped, 12, bytes.length);
        return mapped;
    }

    /**
     * Decodes CONNECT.
     *
     * @param source the private data
     * @return what the client said; its versions overlap ours, its ring is within the limits
     * @throws PrivateDataException if it is anything else; {@link Fault#VERSION} deserves a reject with
     *     {@link RejectReason#VERSION}, everything else one with {@link RejectReason#MALFORMED}
     */
    public static Connect decodeConnect(ByteBuffer source) throws PrivateDataException {
        ByteBuffer in = checkHead(source, KIND_CONNECT, CONNECT_BYTES);
        VersionRange versions = checkVersions(in);
        RingOffer ring = checkRing(in);
        int port = Short.toUnsignedInt(in.getShort(PORT_AT));
        if (port == 0) {
            throw new PrivateDataException(Fault.SOURCE_PORT, 0, 1);
        }
        byte[] address = new byte[16];
        in.get(SOURCE_AT, address);
        int flags = Byte.toUnsignedInt(in.get(FLAGS_AT));
        return new Connect(versions, in.getInt(FEATURES_AT), flags, ring, port, unmapped(address));
    }

    private static InetAddress unmapped(byte[] address) {
        try {
            return InetAddress.getByAddress(address);
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are an address", e);
        }
    }

    /**
     * Decodes ACCEPT.
     *
     * @param source the private data
     * @return what the server said; its version is one of ours, its ring is within the limits
     * @throws PrivateDataException if it is anything else; {@link Fault#TOO_SHORT} and {@link Fault#MAGIC} tell a
     *     service that is not Verbena
     */
    public static Accept decodeAccept(ByteBuffer source) throws PrivateDataException {
        ByteBuffer in = checkHead(source, KIND_ACCEPT, ACCEPT_BYTES);
        VersionRange versions = checkVersions(in);
        if (versions.min() != versions.max()) {
            throw new PrivateDataException(Fault.VERSION, versions.max(), versions.min());
        }
        int flags = Byte.toUnsignedInt(in.get(FLAGS_AT));
        return new Accept(versions.max(), in.getInt(FEATURES_AT), flags, checkRing(in));
    }

    /**
     * Decodes REJECT.
     *
     * @param source the private data
     * @return why the server rejected; its versions need not overlap ours
     * @throws PrivateDataException if it is anything else, such as a reject of the RDMA CM itself
     */
    public static Reject decodeReject(ByteBuffer source) throws PrivateDataException {
        ByteBuffer in = checkHead(source, KIND_REJECT, REJECT_BYTES);
        int code = Short.toUnsignedInt(in.getShort(REASON_AT));
        return new Reject(versions(in), RejectReason.of(code), code);
    }

    private static ByteBuffer checkHead(ByteBuffer source, int kind, int bytes) throws PrivateDataException {
        ByteBuffer in = source.slice().order(ByteOrder.BIG_ENDIAN);
        if (in.remaining() < HEAD_BYTES) {
            throw new PrivateDataException(Fault.TOO_SHORT, in.remaining(), HEAD_BYTES);
        }
        if (in.getInt(0) != MAGIC) {
            throw new PrivateDataException(Fault.MAGIC, Integer.toUnsignedLong(in.getInt(0)), MAGIC);
        }
        if (in.get(KIND_AT) != kind) {
            throw new PrivateDataException(Fault.KIND, Byte.toUnsignedInt(in.get(KIND_AT)), kind);
        }
        int length = Byte.toUnsignedInt(in.get(LENGTH_AT));
        if (length > in.remaining()) {
            throw new PrivateDataException(Fault.LENGTH, length, in.remaining());
        }
        checkVersionBytes(in);
        if (length < bytes && (kind == KIND_REJECT || versions(in).common(VersionRange.SUPPORTED) != 0)) {
            throw new PrivateDataException(Fault.LENGTH, length, bytes);
        }
        return in;
    }

    private static void checkVersionBytes(ByteBuffer in) throws PrivateDataException {
        int min = Byte.toUnsignedInt(in.get(VERSION_MIN_AT));
        int max = Byte.toUnsignedInt(in.get(VERSION_MAX_AT));
        if (min < 1) {
            throw new PrivateDataException(Fault.VERSION, min, 1);
        }
        if (max < min) {
            throw new PrivateDataException(Fault.VERSION, max, min);
        }
    }

    private static VersionRange versions(ByteBuffer in) {
        return new VersionRange(Byte.toUnsignedInt(in.get(VERSION_MIN_AT)), Byte.toUnsignedInt(in.get(VERSION_MAX_AT)));
    }

    private static VersionRange checkVersions(ByteBuffer in) throws PrivateDataException {
        VersionRange theirs = versions(in);
        VersionRange ours = VersionRange.SUPPORTED;
        if (theirs.common(ours) != 0) {
            return theirs;
        }
        boolean older = theirs.max() < ours.min();
        throw new PrivateDataException(
                Fault.VERSION, older ? theirs.max() : theirs.min(), older ? ours.min() : ours.max());
    }

    private static RingOffer checkRing(ByteBuffer in) throws PrivateDataException {
        int log2 = Byte.toUnsignedInt(in.get(RING_LOG2_AT));
        int wrs = in.getInt(DATA_WRS_AT);
        long address = in.getLong(RING_ADDRESS_AT);
        checkRange(Fault.RING_BYTES, log2, ProtocolLimits.MIN_RING_BYTES_LOG2, ProtocolLimits.MAX_RING_BYTES_LOG2);
        checkRange(
                Fault.DATA_WRS, Integer.toUnsignedLong(wrs), ProtocolLimits.MIN_DATA_WRS, ProtocolLimits.MAX_DATA_WRS);
        long greatest = -(1L << log2);
        if (Long.compareUnsigned(address, greatest) > 0) {
            throw new PrivateDataException(Fault.RING_ADDRESS, address, greatest);
        }
        return new RingOffer(address, in.getInt(RKEY_AT), log2, wrs);
    }

    private static void checkRange(Fault fault, long value, long min, long max) throws PrivateDataException {
        if (value < min || value > max) {
            throw new PrivateDataException(fault, value, value < min ? min : max);
        }
    }
}
