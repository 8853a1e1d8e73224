package io.verbena.rdma.ring;

import java.nio.ByteBuffer;

/**
 * The size of a byte ring and the arithmetic on it.
 *
 * <p>A <em>position</em> counts all bytes that ever went through the ring; it is a {@code long} and never wraps (at
 * 100 GB/s it would take almost three years to reach 2<sup>63</sup>). An <em>offset</em> is the place of a position in
 * the ring's memory: {@code offset = position & (ringBytes - 1)}.
 *
 * <p>Immutable and safe for use by any thread. The copies take absolute indices of the ring's buffer, leave that
 * buffer's own position and limit alone and allocate nothing, so several threads may share one ring buffer as long as
 * they copy different ranges.
 */
public final class RingGeometry {
    /** The largest ring that has a geometry: 2<sup>30</sup> bytes (a {@link ByteBuffer} holds no 2<sup>31</sup>). */
    public static final int MAX_RING_BYTES = 1 << 30;

    private final int ringBytes;
    private final int mask;

    /**
     * Describes a ring.
     *
     * @param ringBytes size in bytes, a power of two from 1 to {@link #MAX_RING_BYTES}
     * @throws IllegalArgumentException if the size is no such number
     */
    public RingGeometry(int ringBytes) {
        if (ringBytes < 1 || ringBytes > MAX_RING_BYTES || Integer.bitCount(ringBytes) != 1) {
            throw new IllegalArgumentException(
                    "ringBytes=" + ringBytes + " is no power of two from 1 to " + MAX_RING_BYTES);
        }
        this.ringBytes = ringBytes;
        this.mask = ringBytes - 1;
    }

    /**
     * The ring's size.
     *
     * @return size in bytes
     */
    public int ringBytes() {
        return ringBytes;
    }

    /**
     * The place of a position in the ring's memory.
     *
     * @param position a position, not negative
     * @return offset in bytes, from 0 to {@code ringBytes() - 1}
     */
    public int offset(long position) {
        return (int) position & mask;
    }

    /**
     * How much lies in one piece from a position on.
     *
     * @param position a position, not negative
     * @param bytes the length that is wanted, not negative
     * @return {@code bytes}, or less if the ring's end comes before
     */
    public int contiguous(long position, int bytes) {
        return Math.min(bytes, ringBytes - offset(position));
    }

    /**
     * Copies from the ring into a buffer, around the ring's end if need be. The target's position advances.
     *
     * @param ring the ring's memory; index 0 is offset 0
     * @param position where to begin
     * @param target what to copy to
     * @param maxBytes upper bound of the length, at most {@code ringBytes()}; the target's remaining bytes are another
     * @return the number of bytes copied
     */
    public int copyOut(ByteBuffer ring, long position, ByteBuffer target, int maxBytes) {
        int bytes = Math.min(Math.min(maxBytes, ringBytes), target.remaining());
        int start = target.position();
        int first = contiguous(position, bytes);
        target.put(start, ring, offset(position), first);
        if (first < bytes) {
            target.put(start + first, ring, 0, bytes - first);
        }
        target.position(start + bytes);
        return bytes;
    }

    /**
     * Copies from a buffer into the ring, around the ring's end if need be. The source's position advances.
     *
     * @param ring the ring's memory; index 0 is offset 0
     * @param position where to begin
     * @param source what to copy from
     * @param maxBytes upper bound of the length, at most {@code ringBytes()}; the source's remaining bytes are another
     * @return the number of bytes copied
     */
    public int copyIn(ByteBuffer ring, long position, ByteBuffer source, int maxBytes) {
        int bytes = Math.min(Math.min(maxBytes, ringBytes), source.remaining());
        int start = source.position();
        int first = contiguous(position, bytes);
        ring.put(offset(position), source, start, first);
        if (first < bytes) {
            ring.put(0, source, start + first, bytes - first);
        }
        source.position(start + bytes);
        return bytes;
    }

    @Override
    public String toString() {
        return "RingGeometry[ringBytes=" + ringBytes + "]";
    }
}
