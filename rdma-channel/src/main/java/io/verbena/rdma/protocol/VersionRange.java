package io.verbena.rdma.protocol;

/**
 * A range of protocol versions.
 *
 * @param min the least version, 1 to 255
 * @param max the greatest version, {@code min} to 255
 */
public record VersionRange(int min, int max) {
    /** What this implementation speaks. */
    public static final VersionRange SUPPORTED = new VersionRange(1, 1);

    /**
     * Checks the range.
     *
     * @throws IllegalArgumentException if it is empty or not within 1 to 255
     */
    public VersionRange {
        if (min < 1 || max < min || max > 255) {
            throw new IllegalArgumentException("version range " + min + ".." + max + " not within 1..255");
        }
    }

    /**
     * The version that two sides speak: the greatest that both know.
     *
     * @param other the other side's range
     * @return the version, or 0 if there is none
     */
    public int common(VersionRange other) {
        int version = Math.min(max, other.max);
        return version >= Math.max(min, other.min) ? version : 0;
    }
}
