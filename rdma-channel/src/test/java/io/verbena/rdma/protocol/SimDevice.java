package io.verbena.rdma.protocol;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * One side's queue pair on a simulated device: in order, reliable, as slow as the simulation wants. It fails the run
 * when a message finds no receive, when the send queue overflows, and when a request's memory is used again too early.
 */
final class SimDevice {
    /** A posted request. {@code payload} is what it carried when it was posted. */
    private record Request(
            byte[] payload,
            int ringAt,
            int remoteOffset,
            boolean carries,
            int immediate,
            long wrId,
            boolean signalled) {}

    /** A receive completion. */
    record Receive(int immediate, int byteLen) {}

    final ByteBuffer ring;
    final ByteBuffer sendRing;
    final ArrayDeque<Receive> receives = new ArrayDeque<>();
    final ArrayDeque<Long> sendCompletions = new ArrayDeque<>();
    private final ArrayDeque<Request> posted = new ArrayDeque<>();
    private final ArrayDeque<Request> carried = new ArrayDeque<>();
    private final ArrayDeque<Long> slots = new ArrayDeque<>();
    private final SimPlan plan;
    private SimDevice peer;
    private int unreapedData;
    private int unreapedControl;
    private int unreapedCredits;
    private long requests;

    SimDevice(SimPlan plan) {
        this.plan = plan;
        this.ring = ByteBuffer.allocate(plan.own().ringBytes());
        this.sendRing = ByteBuffer.allocate(Math.max(1, plan.limits().sendRingBytes()));
    }

    void connect(SimDevice other) {
        peer = other;
    }

    boolean canDeliver() {
        return !posted.isEmpty();
    }

    boolean canAck() {
        return !carried.isEmpty();
    }

    /** Posts what the half has committed last. */
    void post(SendHalf half, byte[] payload) {
        int ringAt = payload.length == 0 || half.inline() ? -1 : half.localOffset();
        boolean two = payload.length > 0 && plan.limits().codec() == ImmediateCodec.WRITE_THEN_SEND;
        if (two) {
            enqueue(new Request(payload, ringAt, half.remoteOffset(), false, 0, half.wrId() - 1, false));
            enqueue(new Request(new byte[0], -1, 0, true, half.immediate(), half.wrId(), half.signalled()));
        } else {
            boolean carries = half.immediate() != Immediate.NONE;
            enqueue(new Request(
                    payload, ringAt, half.remoteOffset(), carries, half.immediate(), half.wrId(), half.signalled()));
        }
    }

    private void enqueue(Request request) {
        check(request.wrId == ++requests, "wrId=" + request.wrId + " of request " + requests);
        posted.add(request);
        slots.add(request.wrId);
        check(slots.size() <= plan.limits().sqDepth(), "send queue overflow: " + slots.size());
    }

    void deliver() {
        Request request = posted.remove();
        checkMemory(request);
        if (request.payload.length > 0) {
            check(request.remoteOffset + request.payload.length <= peer.ring.capacity(), "write beyond the ring");
            peer.ring.put(request.remoteOffset, request.payload);
        }
        if (request.carries) {
            peer.arrive(request.immediate, plan.limits().codec(), request.payload.length);
        }
        carried.add(request);
    }

    private void arrive(int immediate, ImmediateCodec codec, int payloadBytes) {
        boolean data = Immediate.kind(immediate) == Immediate.DATA;
        unreapedData += data ? 1 : 0;
        unreapedControl += data ? 0 : 1;
        unreapedCredits += Immediate.kind(immediate) == Immediate.CREDIT ? 1 : 0;
        check(unreapedData <= plan.own().dataWrs(), "receiver not ready: data=" + unreapedData);
        check(unreapedControl <= ProtocolLimits.CONTROL_WRS, "receiver not ready: control=" + unreapedControl);
        check(unreapedCredits <= 4, "unreaped CREDITs: " + unreapedCredits);
        receives.add(new Receive(immediate, codec == ImmediateCodec.WRITE_WITH_IMM ? payloadBytes : 4));
    }

    int unreapedCredits() {
        return unreapedCredits;
    }

    int unreapedData() {
        return unreapedData;
    }

    /** Takes a receive completion; its receive is posted again. */
    Receive reapReceive() {
        Receive receive = receives.remove();
        int kind = Immediate.kind(receive.immediate);
        unreapedData -= kind == Immediate.DATA ? 1 : 0;
        unreapedControl -= kind == Immediate.DATA ? 0 : 1;
        unreapedCredits -= kind == Immediate.CREDIT ? 1 : 0;
        return receive;
    }

    void ack() {
        Request request = carried.remove();
        checkMemory(request);
        if (request.signalled) {
            sendCompletions.add(request.wrId);
        }
    }

    long reapSend() {
        long wrId = sendCompletions.remove();
        while (!slots.isEmpty() && slots.peek() <= wrId) {
            slots.remove();
        }
        return wrId;
    }

    /** The device may read a request's memory until it is acknowledged. */
    private void checkMemory(Request request) {
        for (int i = 0; request.ringAt >= 0 && i < request.payload.length; i++) {
            check(sendRing.get(request.ringAt + i) == request.payload[i], "send ring overwritten before completion");
        }
    }

    /** Everything under way after the first so many requests is lost, and no completion comes any more. */
    void cut(int keep) {
        for (int i = 0; i < keep && !posted.isEmpty(); i++) {
            deliver();
        }
        posted.clear();
        carried.clear();
    }

    int postedRequests() {
        return posted.size();
    }

    static void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }
}
