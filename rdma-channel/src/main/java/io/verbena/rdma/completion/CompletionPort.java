package io.verbena.rdma.completion;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;

/**
 * The completion queue of one queue pair with its completion channel, by prepared calls: nothing is allocated per use.
 *
 * <p>{@link #poll} and {@link #completion} belong to the holder of the stream's poll lock; {@link #arm} and
 * {@link #consumeEvent} are called under it too, by a thread about to sleep or just woken.
 */
public final class CompletionPort {
    private final IbvCQ cq;
    private final IbvCompChannel channel;
    private final IbvWC[] completions;
    private final SVCPollCq pollCall;
    private final SVCReqNotify notifyCall;

    /**
     * Prepares the calls.
     *
     * @param cq the queue, used by this port alone
     * @param channel the queue's channel, used by this queue alone
     * @param batch the most completions that one poll takes
     * @throws IOException if the backend refuses
     */
    public CompletionPort(IbvCQ cq, IbvCompChannel channel, int batch) throws IOException {
        this.cq = cq;
        this.channel = channel;
        this.completions = new IbvWC[batch];
        for (int i = 0; i < batch; i++) {
            completions[i] = new IbvWC();
        }
        this.pollCall = cq.poll(completions, batch);
        this.notifyCall = cq.reqNotification(false);
    }

    /** The most completions that one {@link #poll} takes. */
    public int batch() {
        return completions.length;
    }

    /**
     * Takes completions from the queue (ibv_poll_cq(3)).
     *
     * @return how many, 0 if the queue is empty; see {@link #completion}
     * @throws IOException if the queue failed, which is fatal to the connection
     */
    public int poll() throws IOException {
        return pollCall.execute().getPolls();
    }

    /** Completion {@code i} of the last {@link #poll}, valid until the next. */
    public IbvWC completion(int i) {
        return completions[i];
    }

    /**
     * Asks for an event with the next completion (ibv_req_notify_cq(3)). The caller polls again before it sleeps.
     *
     * @throws IOException if the queue failed
     */
    public void arm() throws IOException {
        notifyCall.execute();
    }

    /** The completion channel's descriptor. */
    public int fd() {
        return channel.getFd();
    }

    /**
     * Takes a pending event off the channel and acks it (ibv_get_cq_event(3)); does nothing if there is none. The queue
     * has to be armed again after it.
     *
     * @throws IOException if the channel failed
     */
    public void consumeEvent() throws IOException {
        if (channel.getCqEvent(cq, 0)) {
            int unused = cq.ackEvents(1);
        }
    }
}
