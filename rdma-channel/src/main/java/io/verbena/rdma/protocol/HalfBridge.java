package io.verbena.rdma.protocol;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What crosses between the two halves of a connection, each field with one writing side.
 *
 * <p>The poll side is whoever holds the poll lock, the send side whoever holds the send lock; successive holders of a
 * lock see each other's plain writes through it. Counters only grow. A release store pairs with the acquire load of
 * the same field on the other side; the send side stores its counters before the request that they count is posted, so
 * no completion can overtake them.
 */
@SuppressWarnings("UnusedVariable") // read by VarHandle
final class HalfBridge {
    private static final VarHandle SENT_BYTES = handle("sentBytes", long.class);
    private static final VarHandle SENT_WRS = handle("sentWrs", long.class);
    private static final VarHandle POSTED = handle("postedRequests", long.class);
    private static final VarHandle CREDITED_BYTES = handle("creditedBytes", long.class);
    private static final VarHandle CREDITED_WRS = handle("creditedWrs", long.class);
    private static final VarHandle COMPLETED = handle("completedRequests", long.class);
    private static final VarHandle SEND_STATE = handle("sendState", SendState.class);
    private static final VarHandle WRITE_END = handle("writeEnd", WriteEnd.class);
    private static final VarHandle FIN_ACKED = handle("finAcked", boolean.class);
    private static final VarHandle PEER_COMPLETE = handle("peerComplete", boolean.class);

    // Written by the send side.
    private long sentBytes;
    private long sentWrs;
    private long postedRequests;
    private SendState sendState;

    // Written by the poll side.
    private long creditedBytes;
    private long creditedWrs;
    private long completedRequests;
    private WriteEnd writeEnd = WriteEnd.NONE;
    private boolean finAcked;
    private boolean peerComplete;

    HalfBridge(SendState sendState) {
        SEND_STATE.setRelease(this, sendState);
    }

    private static VarHandle handle(String field, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(HalfBridge.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    long sentBytes() {
        return (long) SENT_BYTES.getAcquire(this);
    }

    long sentWrs() {
        return (long) SENT_WRS.getAcquire(this);
    }

    long postedRequests() {
        return (long) POSTED.getAcquire(this);
    }

    SendState sendState() {
        return (SendState) SEND_STATE.getAcquire(this);
    }

    /** Send side: a DATA message is about to be posted. */
    void addSent(int bytes) {
        SENT_BYTES.setRelease(this, sentBytes + bytes);
        SENT_WRS.setRelease(this, sentWrs + 1);
    }

    /** Send side: requests are about to be posted. */
    void addPosted(int requests) {
        POSTED.setRelease(this, postedRequests + requests);
    }

    /** Send side: a control message that moves the state is about to be posted. */
    void sendState(SendState state) {
        SEND_STATE.setRelease(this, state);
    }

    long creditedBytes() {
        return (long) CREDITED_BYTES.getAcquire(this);
    }

    long creditedWrs() {
        return (long) CREDITED_WRS.getAcquire(this);
    }

    long completedRequests() {
        return (long) COMPLETED.getAcquire(this);
    }

    WriteEnd writeEnd() {
        return (WriteEnd) WRITE_END.getAcquire(this);
    }

    boolean finAcked() {
        return (boolean) FIN_ACKED.getAcquire(this);
    }

    boolean peerComplete() {
        return (boolean) PEER_COMPLETE.getAcquire(this);
    }

    /** Poll side: a CREDIT came. */
    void addCredited(long bytes, int wrs) {
        CREDITED_BYTES.setRelease(this, creditedBytes + bytes);
        CREDITED_WRS.setRelease(this, creditedWrs + wrs);
    }

    /** Poll side: a send completion came; all requests up to the given number are done. */
    void completed(long requests) {
        COMPLETED.setRelease(this, requests);
    }

    /** Poll side: nothing can be written any more. */
    void writeEnd(WriteEnd end) {
        WRITE_END.setRelease(this, end);
    }

    /** Poll side: the peer answered our FIN. */
    void setFinAcked() {
        FIN_ACKED.setRelease(this, true);
    }

    /** Poll side: the peer's FIN came. */
    void setPeerComplete() {
        PEER_COMPLETE.setRelease(this, true);
    }
}
