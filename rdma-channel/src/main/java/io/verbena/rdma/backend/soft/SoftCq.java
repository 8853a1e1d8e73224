package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * A completion queue. It stores nothing: a poll makes completions out of the rings of its queue pairs.
 *
 * <p>Thread-safe: polling, arming and the overflow state are guarded by this object's lock.
 */
final class SoftCq extends IbvCQ {
    /** Empty polls in a row after which a poller asks the socket whether the peer is alive. */
    private static final int EMPTY_POLLS_PER_CHECK = 4096;

    private static final SoftQp[] NONE = {};
    private static final VarHandle ARMED = armedHandle();

    private final SoftCompChannel compChannel;
    private final Object attachLock = new Object();
    /** Copied on write, under attachLock. */
    private volatile SoftQp[] qps = NONE;

    private volatile boolean mayOverflow;
    private volatile boolean locallyArmed;
    private volatile long armEpoch;
    private boolean overflown;
    private int emptyPolls;
    private int firstQp;

    private static VarHandle armedHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(SoftCq.class, "locallyArmed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    SoftCq(SoftContext context, SoftCompChannel channel, int cqe) throws IOException {
        super(context, channel, cqe);
        this.context = context;
        this.channel = channel;
        this.cqe = cqe;
        this.isOpen = true;
        compChannel = channel;
    }

    void attach(SoftQp qp) throws IOException {
        synchronized (attachLock) {
            SoftQp[] old = qps;
            SoftQp[] all = Arrays.copyOf(old, old.length + 1);
            all[old.length] = qp;
            setQps(all);
        }
        if (qp.recvCq() == this) {
            publishArmed(qp);
        }
        if (compChannel != null) {
            compChannel.attach(qp.connection());
        }
    }

    void detach(SoftQp qp) {
        synchronized (attachLock) {
            setQps(Arrays.stream(qps).filter(q -> q != qp).toArray(SoftQp[]::new));
        }
        if (compChannel != null) {
            compChannel.detach(qp.connection());
        }
    }

    private void setQps(SoftQp[] all) {
        long possible = 0;
        for (SoftQp qp : all) {
            possible += qp.sendCq() == this ? qp.sendQueue().maxWr() : 0;
            possible += qp.recvCq() == this ? qp.receiveQueue().maxWr() : 0;
        }
        mayOverflow = possible > cqe;
        qps = all;
    }

    // --- polling ---------------------------------------------------------------------------------------------------

    /**
     * Takes completions (ibv_poll_cq(3)).
     *
     * @return how many
     * @throws IOException if the queue has overflown; its queue pairs are in the error state
     */
    synchronized int take(IbvWC[] wcs, int max) throws IOException {
        SoftQp[] all = qps;
        if (mayOverflow || overflown) {
            checkOverflow(all);
        }
        int n = 0;
        for (int i = 0; i < all.length && n < max; i++) {
            n = take(all[(firstQp + i) % all.length], wcs, n, max);
        }
        if (n > 0) {
            emptyPolls = 0;
            firstQp = all.length == 1 ? 0 : (firstQp + 1) % all.length;
        } else if (++emptyPolls >= EMPTY_POLLS_PER_CHECK) {
            emptyPolls = 0;
            checkPeers(all);
        }
        return n;
    }

    private int take(SoftQp qp, IbvWC[] wcs, int at, int max) {
        int n = at;
        if (qp.sendCq() == this) {
            qp.sendQueue().retryIfBlocked();
            n = qp.sendQueue().poll(wcs, n, max, qp.number());
        }
        if (qp.recvCq() == this && n < max) {
            n = qp.receiveQueue().poll(wcs, n, max, qp.number());
        }
        return n;
    }

    private static void checkPeers(SoftQp[] all) {
        for (SoftQp qp : all) {
            if (!qp.isError() && qp.connection().isPeerEnded()) {
                qp.fail();
            }
        }
    }

    /** The connection's socket is at its end, or its peer does not keep to the rules. */
    void peerEnded(Connection connection) {
        for (SoftQp qp : qps) {
            if (qp.connection() == connection) {
                qp.fail();
            }
        }
    }

    /** Whether so many messages came on a connection, those not yet polled included. */
    synchronized boolean hasReceived(Connection connection, long messages) {
        long received = 0;
        for (SoftQp qp : qps) {
            if (qp.connection() == connection && qp.recvCq() == this) {
                received += qp.receiveQueue().received(messages);
            }
        }
        return received >= messages;
    }

    private void checkOverflow(SoftQp[] all) throws IOException {
        long pending = 0;
        for (SoftQp qp : all) {
            pending += qp.sendCq() == this ? qp.sendQueue().pendingCompletions() : 0;
            pending += qp.recvCq() == this ? qp.receiveQueue().pendingCompletions(cqe + 1) : 0;
        }
        overflown |= pending > cqe;
        if (overflown) {
            for (SoftQp qp : all) {
                qp.fail();
            }
            throw new IOException("completion queue overflow: more than cqe=" + cqe
                    + " completions were not polled; create it with at least the sum of its queues' work requests");
        }
    }

    // --- arming ----------------------------------------------------------------------------------------------------

    /** Asks for an event with the next completion (ibv_req_notify_cq(3)); the caller polls once more afterwards. */
    synchronized void arm(boolean solicitedOnly) {
        armEpoch = (armEpoch >>> 1) + 1 << 1 | (solicitedOnly ? 1 : 0);
        locallyArmed = true;
        for (SoftQp qp : qps) {
            if (qp.recvCq() == this) {
                publishArmed(qp);
            }
        }
        // Dekker's pattern with SendQueue.wakePeer: our armed word is visible before the caller polls again.
        VarHandle.fullFence();
    }

    private void publishArmed(SoftQp qp) {
        Shared.setOpaque(qp.block().segment().memory, qp.block().offset() + BlockDescriptor.ARMED, armEpoch);
    }

    /** How often the queue was armed: the most wake-ups that an honest peer sends. */
    long arms() {
        return armEpoch >>> 1;
    }

    /** A completion was made in this process: fires the event if the queue is armed. */
    void completed() {
        if (locallyArmed && ARMED.compareAndSet(this, true, false) && compChannel != null) {
            compChannel.fire();
        }
    }

    /** An event was taken: one event per arming. */
    void disarm() {
        locallyArmed = false;
    }

    // --- DiSNI -----------------------------------------------------------------------------------------------------

    @Override
    public SVCPollCq poll(IbvWC[] wcs, int count) {
        return new SoftPollCq(this, wcs, count);
    }

    @Override
    public SVCReqNotify reqNotification(boolean solicitedOnly) {
        return new SoftReqNotify(this, solicitedOnly);
    }

    /** Events need no acknowledgement here: destroying never waits. */
    @Override
    public int ackEvents(int count) {
        return 0;
    }

    @Override
    public int destroyCQ() throws IOException {
        if (qps.length > 0) {
            throw new IOException("destroy_cq failed: EBUSY (" + qps.length + " queue pairs use it)");
        }
        isOpen = false;
        return 0;
    }
}
