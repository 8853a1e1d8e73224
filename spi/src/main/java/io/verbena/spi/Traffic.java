package io.verbena.spi;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes of one stream channel: each counter has one writer at a time (the holder of the channel's read or write
 * lock), so that counting is a plain addition.
 */
final class Traffic {
    private final AtomicLong in = new AtomicLong();
    private final AtomicLong out = new AtomicLong();
    final boolean soft;

    Traffic(boolean soft) {
        this.soft = soft;
    }

    void read(long bytes) {
        if (bytes > 0) {
            in.setOpaque(in.getPlain() + bytes);
        }
    }

    void wrote(long bytes) {
        if (bytes > 0) {
            out.setOpaque(out.getPlain() + bytes);
        }
    }

    long in() {
        return in.getOpaque();
    }

    long out() {
        return out.getOpaque();
    }
}
