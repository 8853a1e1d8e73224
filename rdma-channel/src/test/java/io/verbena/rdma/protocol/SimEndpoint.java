package io.verbena.rdma.protocol;

import static io.verbena.rdma.protocol.SimDevice.check;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.SplittableRandom;

/** One process of a simulated connection: the core, its device, and a program that reads and writes in two threads. */
final class SimEndpoint {
    final boolean client;
    final SimPlan plan;
    final SimDevice device;
    final int[] weights;
    private final Simulation sim;
    private final SplittableRandom random;
    private final ArrayDeque<Integer> replies = new ArrayDeque<>();
    StreamProtocol core;
    SimEndpoint peer;

    boolean established;
    boolean stopped;
    boolean dead;
    boolean closed;
    boolean gone;
    boolean transportEnded;
    boolean sentReset;
    boolean finished;
    boolean readDone;
    boolean inputShut;
    private boolean writeFailed;
    private boolean peerResetSeen;
    long writtenBytes;
    long readBytes;
    ReadEnd end = ReadEnd.NONE;

    SimEndpoint(Simulation sim, SplittableRandom random, SimPlan plan, boolean client) {
        this.sim = sim;
        this.random = random;
        this.plan = plan;
        this.client = client;
        this.device = new SimDevice(plan);
        this.weights = SimPlan.weights(random);
    }

    void connect(SimEndpoint other) {
        peer = other;
        device.connect(other.device);
        core = client
                ? StreamProtocol.client(plan.own(), other.plan.own(), plan.limits())
                : StreamProtocol.server(plan.own(), other.plan.own(), plan.limits());
    }

    private boolean up() {
        return !dead && !gone;
    }

    private boolean running() {
        return up() && established && !stopped && !closed;
    }

    /** Somebody polls: a program that still calls, a call that has not returned, or the control thread. */
    private boolean polled() {
        return up() && (!stopped || closed || !replies.isEmpty());
    }

    private boolean disconnected() {
        return peer.dead || peer.gone || sim.linkLost;
    }

    boolean enabled(SimStep step) {
        SendHalf send = core.send();
        ReceiveHalf receive = core.receive();
        return switch (step) {
            case DELIVER -> up() && !disconnected() && device.canDeliver();
            case ACK -> up() && !disconnected() && device.canAck();
            case REAP_RECEIVES -> polled() && !device.receives.isEmpty();
            case REAP_SENDS -> polled() && !device.sendCompletions.isEmpty();
            case TRANSPORT_END -> polled() && !transportEnded && disconnected() && device.receives.isEmpty();
            case HELLO -> up() && client && !established && !transportEnded;
            case WRITE -> running() && writing() && send.writable();
            case READ -> running() && !readDone && (receive.readableBytes() > 0 || receive.readEnd() != ReadEnd.NONE);
            case POST_REPLY -> up() && !replies.isEmpty() && controlSlot();
            case FINISH -> running() && !finished && !writing() && mayFinish() && controlSlot();
            case CLOSE -> running() && finished && readDone && controlSlot();
            case DISCONNECT -> up() && closed && replies.isEmpty() && (send.mayDisconnect() || transportEnded);
            case KEEPALIVE -> running() && sim.keepalivesLeft > 0 && !transportEnded;
        };
    }

    private boolean controlSlot() {
        boolean free = core.send().hasControlSlot();
        if (!free) {
            sim.count(SimEvent.WAITED_FOR_CONTROL_SLOT);
        }
        return free || transportEnded;
    }

    private boolean mayFinish() {
        return plan.end() != SimPlan.End.CLOSE_AFTER_EOF || readDone;
    }

    boolean writing() {
        return writtenBytes < plan.totalBytes() && !writeFailed && !finished;
    }

    void run(SimStep step) {
        switch (step) {
            case DELIVER -> device.deliver();
            case ACK -> device.ack();
            case REAP_RECEIVES -> reapReceives();
            case REAP_SENDS -> core.send().onSendCompletion(device.reapSend());
            case TRANSPORT_END -> transportEnd();
            case HELLO -> hello();
            case WRITE -> write();
            case READ -> read();
            case POST_REPLY -> postReply();
            case FINISH -> finish();
            case CLOSE -> close(false);
            case DISCONNECT -> disconnect();
            case KEEPALIVE -> keepalive();
        }
        noteUnreaped();
    }

    private void disconnect() {
        gone = true;
        boolean answered =
                !sentReset && !transportEnded && !core.receive().state().complete();
        sim.count(SimEvent.DISCONNECTED_BY_FIN_ACK, answered);
    }

    private void noteUnreaped() {
        if (peer.device.unreapedCredits() >= 4) {
            sim.count(SimEvent.FOUR_CREDITS_UNREAPED);
        }
        if (peer.device.unreapedData() == peer.plan.own().dataWrs()) {
            sim.count(SimEvent.ALL_DATA_WRS_UNREAPED);
        }
    }

    private void hello() {
        core.send().commitHello();
        post(new byte[0]);
        established = true;
    }

    private void keepalive() {
        sim.keepalivesLeft--;
        if (core.send().commitKeepalive()) {
            post(new byte[0]);
            sim.count(SimEvent.KEEPALIVE);
        }
    }

    private void post(byte[] payload) {
        if (!transportEnded) {
            device.post(core.send(), payload);
        }
    }

    private void reapReceives() {
        int batch = 1 + random.nextInt(device.receives.size());
        SimDevice.Receive[] reaped = new SimDevice.Receive[batch];
        for (int i = 0; i < batch; i++) {
            reaped[i] = device.reapReceive();
        }
        for (SimDevice.Receive receive : reaped) {
            take(receive);
        }
        takeReplies();
    }

    private void take(SimDevice.Receive message) {
        int events = core.receive().onImmediate(message.immediate(), message.byteLen());
        check(
                (events & ReceiveHalf.VIOLATED) == 0,
                String.valueOf(core.receive().violation()));
        established |= (events & ReceiveHalf.ESTABLISHED) != 0;
        int kind = Immediate.kind(message.immediate());
        peerResetSeen |= kind == Immediate.RESET;
        if (kind == Immediate.DATA && closed) {
            sim.count(SimEvent.DATA_AFTER_CLOSE);
        }
        if (kind == Immediate.FIN
                && core.send().state() == SendState.FIN_SENT
                && !core.send().mayDisconnect()) {
            sim.count(SimEvent.FINS_CROSSED);
        }
    }

    private void takeReplies() {
        while (core.receive().replyDue()) {
            int reply = core.receive().takeReply();
            check(reply != Immediate.NONE, "a reply is due but there is none");
            noteCredit(reply);
            replies.add(reply);
        }
        check(core.receive().takeReply() == Immediate.NONE, "no reply is due but there is one");
        if (random.nextBoolean() && enabled(SimStep.POST_REPLY)) {
            postReply();
        }
    }

    private void noteCredit(int reply) {
        if (Immediate.kind(reply) == Immediate.CREDIT) {
            boolean wrsOnly = Immediate.creditByteUnits(reply) == 0;
            sim.count(SimEvent.CREDIT_OF_WRS_ONLY, wrsOnly);
            sim.count(SimEvent.CREDIT_WITH_REMAINDER, readBytes % plan.own().unitBytes() != 0);
        }
    }

    private void postReply() {
        boolean first = random.nextBoolean();
        int reply = first ? replies.removeFirst() : replies.removeLast();
        if (transportEnded) {
            return;
        }
        if (core.send().commitReply(reply) == Immediate.NONE) {
            sim.count(SimEvent.REPLY_DROPPED_BY_CLOSE);
        } else {
            post(new byte[0]);
        }
    }

    private void transportEnd() {
        boolean clean = sim.fault == SimFault.LOST_PEER_SOFT
                && peer.dead
                && peer.core.receive().readPosition() == core.send().sentBytes();
        core.receive().onTransportEnd(clean);
        transportEnded = true;
        sim.deathClean |= clean;
    }

    private void write() {
        if (core.send().writeEnd() != WriteEnd.NONE) {
            writeFailed = true;
            sim.count(core.send().writeEnd() == WriteEnd.RESET ? SimEvent.WRITE_RESET : SimEvent.BROKEN_PIPE);
            return;
        }
        long left = plan.totalBytes() - writtenBytes;
        int wanted = (int) Math.min(left, 1 + random.nextInt(plan.maxWriteBytes()));
        int done = 0;
        while (done < wanted) {
            int bytes = core.send().plan(wanted - done);
            if (bytes == 0) {
                sim.count(SimEvent.PARTIAL_WRITE);
                noteWait();
                break;
            }
            bytes = random.nextInt(8) == 0 ? 1 + random.nextInt(bytes) : bytes;
            send(bytes);
            done += bytes;
        }
        check(done > 0, "writable, but nothing could be written");
        maybeStop();
    }

    private void send(int bytes) {
        byte[] payload = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            payload[i] = content(writtenBytes + i);
        }
        if (!core.send().inline()) {
            device.sendRing.put(core.send().localOffset(), payload);
        }
        sim.count(
                SimEvent.RING_WRAPPED,
                core.send().remoteOffset() + bytes == peer.plan.own().ringBytes());
        core.send().commit(bytes);
        post(payload);
        writtenBytes += bytes;
    }

    private byte content(long position) {
        return (byte) (position * 31 + (position >>> 7) + (client ? 1 : 0));
    }

    private void noteWait() {
        SendHalf send = core.send();
        int slots = plan.limits().sqDepth() - ProtocolLimits.CONTROL_SLOTS - send.outstandingRequests();
        if (send.creditBytes() == 0) {
            sim.count(SimEvent.WAITED_FOR_BYTES);
        } else if (send.creditWrs() == 0) {
            sim.count(SimEvent.WAITED_FOR_WRS);
        } else if (slots < plan.limits().codec().slotsPerData()) {
            sim.count(SimEvent.WAITED_FOR_SLOT);
        } else {
            sim.count(SimEvent.WAITED_FOR_SEND_RING);
        }
    }

    private void maybeStop() {
        if (sim.fault == SimFault.PROGRAM_STOPS && sim.victim == this && random.nextInt(8) == 0) {
            stopped = true;
        }
    }

    private void read() {
        ReceiveHalf receive = core.receive();
        if (receive.readableBytes() == 0) {
            end = receive.readEnd();
            readDone = true;
            return;
        }
        int wanted = Math.min(receive.readableBytes(), 1 + random.nextInt(plan.maxReadBytes()));
        ByteBuffer target = ByteBuffer.allocate(wanted);
        int bytes = receive.ring().copyOut(device.ring, receive.readPosition(), target, wanted);
        for (int i = 0; i < bytes; i++) {
            byte expected = peer.content(readBytes + i);
            if (target.get(i) != expected) {
                throw new AssertionError("wrong byte at position " + (readBytes + i));
            }
        }
        receive.consume(bytes);
        readBytes += bytes;
        sim.count(SimEvent.READ_AFTER_RESET, peerResetSeen);
        takeReplies();
    }

    private void finish() {
        finished = true;
        switch (plan.end()) {
            case CLOSE -> close(false);
            case CLOSE_AFTER_EOF -> close(false);
            case SHUT_DOWN_OUTPUT -> shutDownOutput();
            case SHUT_DOWN_INPUT_THEN_OUTPUT -> {
                core.receive().discardInput();
                inputShut = true;
                readDone = true;
                sim.count(SimEvent.SHUTDOWN_INPUT);
                shutDownOutput();
                takeReplies();
            }
        }
    }

    private void shutDownOutput() {
        boolean after = core.receive().state().complete();
        sim.count(after ? SimEvent.SHUTDOWN_AFTER_PEER : SimEvent.SHUTDOWN_BEFORE_PEER);
        if (!transportEnded && core.send().commitFin(false) != Immediate.NONE) {
            post(new byte[0]);
        }
    }

    /** Close, with RESET if there is unread input or the linger time is 0. */
    void close(boolean lingerZero) {
        closed = true;
        finished = true;
        if (transportEnded) {
            return;
        }
        boolean unread = core.receive().readableBytes() > 0;
        boolean half = core.send().state() == SendState.FIN_SENT;
        sentReset = unread || lingerZero;
        int message = sentReset ? core.send().commitReset() : core.send().commitFin(true);
        check(message != Immediate.NONE, "close says nothing");
        post(new byte[0]);
        sim.count(SimEvent.RESET_WITH_UNREAD_INPUT, unread);
        sim.count(SimEvent.RESET_BY_LINGER_ZERO, lingerZero);
        sim.count(SimEvent.FIN_THEN_CLOSE, half && !sentReset);
        sim.count(SimEvent.CLOSE_AT_ONCE, !half && !sentReset);
    }

    boolean mayCloseEarly() {
        return running() && core.send().hasControlSlot();
    }

    @Override
    public String toString() {
        return (client ? "client" : "server") + "[written=" + writtenBytes + "/" + plan.totalBytes() + " read="
                + readBytes
                + " end=" + end + " stopped=" + stopped + " dead=" + dead + " closed=" + closed + " gone=" + gone
                + " transportEnded=" + transportEnded + " replies=" + replies + " " + plan + "\n    " + core.send()
                + "\n    " + core.receive() + "]";
    }
}
