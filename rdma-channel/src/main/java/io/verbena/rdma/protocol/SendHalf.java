package io.verbena.rdma.protocol;

import io.verbena.rdma.ring.RingGeometry;

/**
 * The sending half of a connection: how much may be written now and where to, the send queue's slots, the local send
 * ring, and this side's control messages.
 *
 * <p><b>Thread-safety:</b> guarded by the stream's send lock, except for the methods whose documentation says
 * otherwise. Nothing here allocates, blocks or posts.
 *
 * <p><b>Use:</b> {@code n = plan(wanted)}; if {@code n > 0}: copy n bytes to {@link #localOffset()} of the send ring
 * unless {@link #inline()}; {@code commit(n)}; then post a request (or two, {@link ImmediateCodec#WRITE_THEN_SEND})
 * with {@link #remoteOffset()}, {@link #immediate()}, {@link #wrId()} and {@link #signalled()}. Commit comes
 * <em>before</em> the post: the peer's answer may be reaped by another thread before the post returns. A post that
 * fails ends the connection (the slots are counted here, so a full queue is no reason): call {@link
 * ReceiveHalf#onTransportEnd}.
 *
 * <p><b>Obligations:</b> a sender that got 0 calls again after {@link ReceiveHalf#onImmediate} returned
 * {@link ReceiveHalf#WRITABLE}, after {@link #onSendCompletion}, and after {@link ReceiveHalf#onTransportEnd}; one of
 * these comes unless the peer does not read. Whoever gets {@link ReceiveHalf#takeReply()} hands it to
 * {@link #commitReply} and posts it before the program's call returns.
 */
public final class SendHalf {
    private final HalfBridge bridge;
    private final CreditTerms peer;
    private final SendLimits limits;
    private final SendQueue queue;

    private int plannedBytes;
    private boolean inline;
    private int remoteOffset;
    private int localOffset;
    private int immediate;
    private boolean signalled;

    SendHalf(HalfBridge bridge, CreditTerms peer, SendLimits limits) {
        this.bridge = bridge;
        this.peer = peer;
        this.limits = limits;
        this.queue = new SendQueue(bridge, limits);
    }

    /**
     * This side's state. May be called by any thread.
     *
     * @return the state
     */
    public SendState state() {
        return bridge.sendState();
    }

    /**
     * Why nothing can be written any more. May be called by any thread.
     *
     * @return {@link WriteEnd#NONE} if writing is possible
     */
    public WriteEnd writeEnd() {
        SendState state = bridge.sendState();
        if (state != SendState.OPEN && state != SendState.HELLO_OWED) {
            return WriteEnd.SHUT_DOWN;
        }
        return bridge.writeEnd();
    }

    /**
     * Whether a write of any length would not wait: at least one byte of it can be sent, or it would fail. While the
     * send ring is full it says no although a write within the inline limit would succeed; a completion is to come
     * then. May be called by any thread; without the send lock it is a hint that is exact once no commit or completion
     * is under way.
     *
     * @return whether to report readiness for writing
     */
    public boolean writable() {
        if (writeEnd() != WriteEnd.NONE) {
            return true;
        }
        int credited = state() == SendState.OPEN ? creditPermits(Integer.MAX_VALUE) : 0;
        return credited > 0 && (credited <= limits.inlineLimit() || queue.ringPermits(credited) > 0);
    }

    /**
     * Plans a DATA message. It changes nothing but this object's accessors.
     *
     * @param wantedBytes bytes that the caller has, at least 1
     * @return length in bytes that may be sent now as one message, at most {@code wantedBytes}; 0 if there is no
     *     credit, no slot or no space in the send ring, or if {@link #writeEnd()} says that there never will be
     */
    public int plan(int wantedBytes) {
        plannedBytes = 0;
        if (bridge.sendState() != SendState.OPEN || bridge.writeEnd() != WriteEnd.NONE) {
            return 0;
        }
        int credited = creditPermits(wantedBytes);
        // Decided before the send ring's end cuts the message: the short piece there must go through the ring.
        inline = credited <= limits.inlineLimit();
        int bytes = inline ? credited : queue.ringPermits(credited);
        remoteOffset = peer.ring().offset(bridge.sentBytes());
        localOffset = inline ? 0 : queue.ringOffset();
        plannedBytes = bytes;
        return bytes;
    }

    /** What credit, slots and the end of the peer's ring permit; reads only published values and final fields. */
    private int creditPermits(int wantedBytes) {
        if (creditWrs() <= 0 || queue.freeDataSlots() < limits.codec().slotsPerData()) {
            return 0;
        }
        return peer.ring().contiguous(bridge.sentBytes(), Math.clamp(creditBytes(), 0, wantedBytes));
    }

    /**
     * Books a DATA message, right before it is posted.
     *
     * @param bytes its length, from 1 to what {@link #plan} returned last
     * @throws IllegalArgumentException if nothing of that length was planned
     */
    public void commit(int bytes) {
        if (bytes < 1 || bytes > plannedBytes) {
            throw new IllegalArgumentException("commit of " + bytes + " bytes, planned " + plannedBytes);
        }
        plannedBytes = 0;
        immediate = Immediate.data(bytes);
        bridge.addSent(bytes);
        signalled = queue.addData(inline ? 0 : bytes);
    }

    /**
     * Where the message goes.
     *
     * @return offset in bytes in the peer's ring; valid from {@link #plan} to the next plan
     */
    public int remoteOffset() {
        return remoteOffset;
    }

    /**
     * Whether the message is copied while it is posted, from wherever the caller has it.
     *
     * @return false if it goes through the local send ring; valid from {@link #plan} to the next plan
     */
    public boolean inline() {
        return inline;
    }

    /**
     * Where a message that is not inline is copied to before it is posted.
     *
     * @return offset in bytes in the local send ring; valid from {@link #plan} to the next plan
     */
    public int localOffset() {
        return localOffset;
    }

    /**
     * The immediate of the message committed last.
     *
     * @return the immediate in host order
     */
    public int immediate() {
        return immediate;
    }

    /**
     * Whether the last request of the message committed last asks for a completion. Control messages always do.
     *
     * @return whether to set IBV_SEND_SIGNALED
     */
    public boolean signalled() {
        return signalled;
    }

    /**
     * The wr_id of the last request of the message committed last: the number of requests posted up to it, which is
     * what its completion completes.
     *
     * @return the wr_id
     */
    public long wrId() {
        return bridge.postedRequests();
    }

    /**
     * Whether a control message has a slot in the send queue. If not, the caller reaps send completions until it has:
     * that waits for the device's acknowledgement, never for the peer's program. May be called by any thread.
     *
     * @return whether the next method that commits a control message may be called
     */
    public boolean hasControlSlot() {
        return queue.freeSlots() > 0;
    }

    /**
     * Books the client's HELLO, right before it is posted: its first message.
     *
     * @return the immediate to post
     * @throws IllegalStateException if HELLO was sent
     */
    public int commitHello() {
        return commitControl(Immediate.control(Immediate.HELLO), SendState.Event.HELLO);
    }

    /**
     * Books FIN, right before it is posted: the end of this side's stream.
     *
     * @param close whether this side will not read any more either; it may follow a FIN without close
     * @return the immediate to post, or {@link Immediate#NONE} if this side has said so already or nobody is there to
     *     hear it
     * @throws IllegalStateException if HELLO is owed or there is no slot ({@link #hasControlSlot()})
     */
    public int commitFin(boolean close) {
        SendState state = state();
        boolean said = state == SendState.CLOSED || state == SendState.RESET;
        if (said || (!close && state == SendState.FIN_SENT)) {
            return Immediate.NONE;
        }
        return commitControl(Immediate.fin(close), close ? SendState.Event.FIN_CLOSE : SendState.Event.FIN);
    }

    /**
     * Books RESET, right before it is posted: unread input is thrown away, linger is 0, or the peer broke a rule.
     *
     * @return the immediate to post, or {@link Immediate#NONE} if CLOSE or RESET was sent, or if HELLO is owed: then
     *     the peer knows of no stream, and to disconnect says enough
     * @throws IllegalStateException if there is no slot ({@link #hasControlSlot()})
     */
    public int commitReset() {
        SendState state = state();
        if (state != SendState.OPEN && state != SendState.FIN_SENT) {
            return Immediate.NONE;
        }
        return commitControl(Immediate.control(Immediate.RESET), SendState.Event.RESET);
    }

    /**
     * Books a reply of the receiving half, right before it is posted.
     *
     * @param reply what {@link ReceiveHalf#takeReply()} returned, not {@link Immediate#NONE}
     * @return the immediate to post, or {@link Immediate#NONE} if this side's CLOSE or RESET made it pointless
     * @throws IllegalStateException if there is no slot ({@link #hasControlSlot()})
     */
    public int commitReply(int reply) {
        SendState state = state();
        boolean credit = Immediate.kind(reply) == Immediate.CREDIT;
        if (state == SendState.RESET || (credit && state == SendState.CLOSED)) {
            return Immediate.NONE;
        }
        return addControl(reply);
    }

    private int commitControl(int control, SendState.Event event) {
        SendState next = state().after(event);
        int posted = addControl(control);
        bridge.sendState(next);
        return posted;
    }

    private int addControl(int control) {
        plannedBytes = 0;
        queue.addControl();
        signalled = true;
        immediate = control;
        return control;
    }

    /**
     * Books a keepalive, right before it is posted: a signalled RDMA WRITE of no bytes, which takes a slot here and
     * nothing at the peer.
     *
     * @return false if none is to be posted: a completion is outstanding, which proves the peer as well, or no slot is
     *     free
     */
    public boolean commitKeepalive() {
        if (queue.freeDataSlots() < 1 || queue.signalledOutstanding()) {
            return false;
        }
        addControl(Immediate.NONE);
        return true;
    }

    /**
     * Takes a send completion. Called by the poll side, with or without the send lock, one call at a time.
     *
     * @param wrId wr_id of the completed request
     */
    public void onSendCompletion(long wrId) {
        if (wrId < bridge.completedRequests() || wrId > bridge.postedRequests()) {
            throw new IllegalArgumentException("completion wrId=" + wrId + " not in [" + bridge.completedRequests()
                    + ", " + bridge.postedRequests() + "]");
        }
        bridge.completed(wrId);
    }

    /**
     * Whether the queue pair may be disconnected without loss after this side's FIN: the peer answered it, or the
     * device acknowledged everything and the peer's FIN is here. May be called by any thread.
     *
     * @return whether the closer need not wait any longer
     */
    public boolean mayDisconnect() {
        SendState state = state();
        if (state == SendState.RESET) {
            return queue.outstanding() == 0;
        }
        boolean finished = state == SendState.FIN_SENT || state == SendState.CLOSED;
        return finished && (bridge.finAcked() || bridge.peerComplete()) && queue.outstanding() == 0;
    }

    /**
     * Requests posted and not known to be complete. May be called by any thread.
     *
     * @return a count of requests, at most {@code sqDepth}
     */
    public int outstandingRequests() {
        return queue.outstanding();
    }

    /**
     * Bytes committed so far.
     *
     * @return the position of the next byte to send
     */
    public long sentBytes() {
        return bridge.sentBytes();
    }

    /**
     * Bytes that the peer has lent and that are not used up. May be called by any thread; it may then be stale.
     *
     * @return a length in bytes
     */
    public long creditBytes() {
        // Credited is read before sent, so that a reader without the lock errs to the low side.
        long lent = bridge.creditedBytes() + peer.ringBytes();
        return lent - bridge.sentBytes();
    }

    /**
     * DATA messages that the peer has receives for. May be called by any thread; it may then be stale.
     *
     * @return a count of work requests
     */
    public long creditWrs() {
        long lent = bridge.creditedWrs() + peer.dataWrs();
        return lent - bridge.sentWrs();
    }

    /**
     * The geometry of the peer's ring.
     *
     * @return the geometry
     */
    public RingGeometry peerRing() {
        return peer.ring();
    }

    @Override
    public String toString() {
        return "SendHalf[" + state() + "/" + writeEnd() + ", sentBytes=" + bridge.sentBytes() + ", creditBytes="
                + creditBytes() + ", creditWrs=" + creditWrs() + ", outstanding=" + queue.outstanding() + "]";
    }
}
