package io.verbena.rdma.protocol;

import static io.verbena.rdma.protocol.SimDevice.check;

import java.util.EnumMap;
import java.util.SplittableRandom;

/** One simulated connection: two endpoints whose steps a seeded generator interleaves until nothing can happen. */
final class Simulation {
    private static final int MAX_STEPS = 100_000;
    private static final SimStep[] STEPS = SimStep.values();

    final SimFault fault;
    final SimEndpoint victim;
    final EnumMap<SimEvent, Integer> events = new EnumMap<>(SimEvent.class);
    boolean linkLost;
    boolean deathClean;
    int keepalivesLeft;
    private final long seed;
    private final SplittableRandom random;
    private final SimEndpoint client;
    private final SimEndpoint server;
    private final StringBuilder trace;
    private final int[] weights = new int[2 * STEPS.length];
    private int faultAt;
    private int steps;
    private long traceHash;

    Simulation(long seed, boolean withTrace) {
        this.seed = seed;
        this.random = new SplittableRandom(seed);
        this.trace = withTrace ? new StringBuilder() : null;
        SimFault[] faults = SimFault.values();
        fault = faults[random.nextInt(faults.length)];
        ImmediateCodec codec = random.nextInt(3) == 0 ? ImmediateCodec.WRITE_THEN_SEND : ImmediateCodec.WRITE_WITH_IMM;
        boolean large = random.nextInt(20) == 0;
        client = new SimEndpoint(this, random, SimPlan.draw(random, codec, large, true), true);
        server = new SimEndpoint(this, random, SimPlan.draw(random, codec, large, false), false);
        client.connect(server);
        server.connect(client);
        victim = random.nextBoolean() ? client : server;
        keepalivesLeft = random.nextInt(4);
        faultAt = random.nextInt(random.nextBoolean() ? 50 : 400);
    }

    void count(SimEvent event) {
        events.merge(event, 1, Integer::sum);
    }

    void count(SimEvent event, boolean happened) {
        if (happened) {
            count(event);
        }
    }

    /** Runs until nothing can happen, then holds the outcome against what must be. */
    Simulation run() {
        try {
            while (step()) {
                check(++steps < MAX_STEPS, "no end after " + steps + " steps");
            }
            checkEnd(client, server);
            checkEnd(server, client);
            return this;
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError(
                    "seed=" + seed + "L step=" + steps + " fault=" + fault + ": " + e.getMessage() + "\n" + client
                            + "\n" + server,
                    e);
        }
    }

    private boolean step() {
        if (steps >= faultAt) {
            strike();
        }
        int sum = weigh(client, 0) + weigh(server, STEPS.length);
        if (sum == 0) {
            boolean late = faultAt != Integer.MAX_VALUE;
            faultAt = late ? steps : faultAt;
            return late && fault != SimFault.NONE && strike();
        }
        int draw = random.nextInt(sum);
        int chosen = 0;
        while (draw >= weights[chosen]) {
            draw -= weights[chosen++];
        }
        SimEndpoint actor = chosen < STEPS.length ? client : server;
        record(chosen);
        actor.run(STEPS[chosen % STEPS.length]);
        return true;
    }

    private int weigh(SimEndpoint endpoint, int base) {
        int sum = 0;
        for (SimStep step : STEPS) {
            int weight = endpoint.enabled(step) ? endpoint.weights[step.ordinal()] : 0;
            weights[base + step.ordinal()] = weight;
            sum += weight;
        }
        return sum;
    }

    private void record(int chosen) {
        traceHash = traceHash * 0x9E3779B97F4A7C15L + chosen + 1;
        if (trace != null) {
            trace.append(chosen < STEPS.length ? "client " : "server ").append(STEPS[chosen % STEPS.length]);
            trace.append('\n').append(client).append('\n').append(server).append('\n');
        }
    }

    /** The fault happens, once; tells whether it changed anything. */
    private boolean strike() {
        switch (fault) {
            case LOST_PEER_SOFT -> die(victim, Integer.MAX_VALUE);
            case LOST_PEER_RDMA -> die(victim, random.nextInt(1 + victim.device.postedRequests()));
            case LOST_LINK -> loseLink();
            case LINGER_ZERO, EARLY_CLOSE -> {
                if (!victim.mayCloseEarly()) {
                    faultAt = victim.established || steps == faultAt ? Integer.MAX_VALUE : faultAt;
                    return false;
                }
                victim.close(fault == SimFault.LINGER_ZERO);
            }
            case NONE, PROGRAM_STOPS -> {}
        }
        faultAt = Integer.MAX_VALUE;
        return fault != SimFault.NONE && fault != SimFault.PROGRAM_STOPS;
    }

    private void die(SimEndpoint endpoint, int keep) {
        if (!endpoint.gone && !endpoint.peer.gone) {
            endpoint.device.cut(keep);
        }
        endpoint.dead = true;
    }

    private void loseLink() {
        boolean open = !client.gone && !server.gone;
        if (open) {
            client.device.cut(random.nextInt(1 + client.device.postedRequests()));
            server.device.cut(random.nextInt(1 + server.device.postedRequests()));
        }
        linkLost = true;
    }

    /** What one side must have come to, now that nothing can happen any more. */
    private void checkEnd(SimEndpoint side, SimEndpoint peer) {
        if (side.dead) {
            return;
        }
        if (side.readDone && !side.inputShut) {
            checkReadEnd(side, peer);
        }
        boolean neverShownToAccept = !side.established && side.transportEnded;
        if (side.gone || neverShownToAccept) {
            return;
        }
        check(
                !side.device.canDeliver() || side.transportEnded || peer.dead || peer.gone || linkLost,
                "posted, not sent");
        if (side.stopped) {
            return;
        }
        boolean excused = peer.stopped && !peer.closed;
        check(excused, (side.client ? "client" : "server") + " waits for ever");
        checkStopped(side, peer);
    }

    /** A program that never calls again: all it wrote has arrived, and its peer waits only because it does not read. */
    private void checkStopped(SimEndpoint side, SimEndpoint peer) {
        if (!side.closed && !side.inputShut) {
            check(side.readBytes == peer.writtenBytes, "stopped after writing, but its bytes did not arrive");
            count(SimEvent.STOPPED_WRITER_DELIVERED, peer.writtenBytes > 0);
        }
        if (side.writing() && !side.closed) {
            check(!side.core.send().writable(), "writable, but no step");
            count(SimEvent.WRITER_LEFT_WAITING_FOR_STOPPED_READER);
        }
    }

    private void checkReadEnd(SimEndpoint side, SimEndpoint peer) {
        boolean all = side.readBytes == peer.writtenBytes;
        boolean lossy = linkLost || (peer.dead && fault == SimFault.LOST_PEER_RDMA);
        check(side.readBytes <= peer.writtenBytes, "more read than written");
        if (side.end == ReadEnd.EOF) {
            check(all, "end of stream before all bytes");
            check(peer.core.send().state() != SendState.OPEN || deathClean, "end of stream without FIN");
            count(SimEvent.EOF);
            count(SimEvent.EOF_AFTER_DEATH, deathClean);
        } else {
            check(all || lossy, "bytes lost before a reset");
            check(lossy || peer.sentReset || (peer.dead && !deathClean), "reset out of the blue");
            count(SimEvent.RESET_AFTER_DEATH, peer.dead);
            count(SimEvent.RESET_AFTER_LOST_LINK, linkLost);
        }
    }

    long traceHash() {
        return traceHash;
    }

    String trace() {
        return trace.toString();
    }

    int steps() {
        return steps;
    }
}
