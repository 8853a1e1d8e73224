package io.verbena.rdma.protocol;

import java.util.SplittableRandom;

/** The shape of one side of a simulated connection, drawn from the seed. */
record SimPlan(CreditTerms own, SendLimits limits, int totalBytes, int maxWriteBytes, int maxReadBytes, End end) {
    /** What the program does when it has written everything. */
    enum End {
        SHUT_DOWN_OUTPUT,
        CLOSE,
        CLOSE_AFTER_EOF,
        SHUT_DOWN_INPUT_THEN_OUTPUT
    }

    private static final int[] WRS = {1, 1, 2, 3, 4, 5, 7, 16, 64};
    private static final int[] WEIGHTS = {1, 4, 16, 64};

    static SimPlan draw(SplittableRandom random, ImmediateCodec codec, boolean large, boolean client) {
        int ringBytes = large ? 1 << 14 + random.nextInt(3) : 1 << random.nextInt(9);
        CreditTerms own = CreditTerms.tiny(ringBytes, WRS[random.nextInt(WRS.length)]);
        int total = random.nextInt(8) == 0 ? 0 : random.nextInt(large ? 4 * ringBytes : 300);
        End[] ends = End.values();
        End end = ends[random.nextInt(ends.length)];
        if (client && end == End.CLOSE_AFTER_EOF) {
            end = End.CLOSE; // Both waiting for the other's end would be a deadlock of the programs.
        }
        int maxBytes = large ? ringBytes : 1 + random.nextInt(100);
        return new SimPlan(
                own, limits(random, codec, large ? 4096 : 1), total, maxBytes, 1 + random.nextInt(2 * maxBytes), end);
    }

    private static SendLimits limits(SplittableRandom random, ImmediateCodec codec, int scale) {
        int depth = ProtocolLimits.CONTROL_SLOTS + codec.slotsPerData() + random.nextInt(random.nextBoolean() ? 2 : 40);
        int interval = 1 + random.nextInt(16);
        return switch (random.nextInt(3)) {
            case 0 -> new SendLimits(depth, interval, SendLimits.INLINE_ANY, 0, codec);
            case 1 -> new SendLimits(depth, interval, 0, scale << random.nextInt(8), codec);
            default -> new SendLimits(depth, interval, random.nextInt(20), scale << random.nextInt(8), codec);
        };
    }

    /** One weight a step: how eager a side's device and threads are. */
    static int[] weights(SplittableRandom random) {
        int[] weights = new int[SimStep.values().length];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = WEIGHTS[random.nextInt(WEIGHTS.length)];
        }
        return weights;
    }
}
