package io.verbena.rdma.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumMap;
import org.junit.jupiter.api.Test;

/** Many simulated connections; {@code -Dverbena.sim.first=N} and {@code -Dverbena.sim.seeds=N} choose others. */
class SimulationTest {
    private static final long FIRST_SEED = Long.getLong("verbena.sim.first", 1);
    private static final int SEEDS = Integer.getInteger("verbena.sim.seeds", 10_000);

    @Test
    void everyByteArrivesOnceAndInOrderOrTheStreamSaysReset() {
        EnumMap<SimEvent, Integer> events = new EnumMap<>(SimEvent.class);
        EnumMap<SimFault, Integer> faults = new EnumMap<>(SimFault.class);
        long steps = 0;
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            Simulation sim = new Simulation(seed, false).run();
            sim.events.forEach((event, count) -> events.merge(event, count, Integer::sum));
            faults.merge(sim.fault, 1, Integer::sum);
            steps += sim.steps();
        }
        System.out.println("simulation: seeds=" + SEEDS + " steps=" + steps + " " + faults + " " + events);
        if (SEEDS < 10_000) {
            return; // A run that repeats a seed proves no coverage.
        }
        for (SimFault fault : SimFault.values()) {
            assertTrue(faults.getOrDefault(fault, 0) >= SEEDS / 20, "fault rarely drawn: " + fault + " " + faults);
        }
        for (SimEvent event : SimEvent.values()) {
            assertTrue(events.getOrDefault(event, 0) > 0, "never happened: " + event + " " + events);
        }
    }

    @Test
    void sameSeedGivesTheSameTrace() {
        for (long seed = 1; seed <= 30; seed++) {
            String first = new Simulation(seed, true).run().trace();
            boolean same = first.equals(new Simulation(seed, true).run().trace());
            assertTrue(same, "seed=" + seed + " gave two traces");
        }
        for (long seed = 1; seed <= 500; seed++) {
            long first = new Simulation(seed, false).run().traceHash();
            assertEquals(first, new Simulation(seed, false).run().traceHash(), "seed=" + seed);
        }
    }

    @Test
    void differentSeedsGiveDifferentTraces() {
        long distinct = java.util.stream.LongStream.rangeClosed(1, 200)
                .map(seed -> new Simulation(seed, false).run().traceHash())
                .distinct()
                .count();
        assertTrue(distinct > 190, "only " + distinct + " distinct traces of 200 seeds");
    }
}
