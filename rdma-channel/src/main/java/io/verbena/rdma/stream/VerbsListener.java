package io.verbena.rdma.stream;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import io.verbena.rdma.cm.CmMessage;
import io.verbena.rdma.cm.ControlLoop;
import io.verbena.rdma.protocol.RejectReason;
import io.verbena.rdma.sys.EventFd;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A listening id, the connections on their way to it, and those that wait for accept. */
final class VerbsListener implements StreamListener {
    private final ControlLoop loop;
    private final RdmaCmId id;
    private final int backlog;
    private final int ringBytesLog2;
    private final EventFd event = new EventFd();

    /** On their way, in the order of their requests: not yet said HELLO, or not yet seen to have. Guarded by this. */
    private final Set<IncomingConnection> incoming = new LinkedHashSet<>();

    /** Complete. Guarded by this. */
    private final ArrayDeque<VerbsStream> queue = new ArrayDeque<>();

    private boolean closed;

    private VerbsListener(ControlLoop loop, RdmaCmId id, int backlog, int ringBytesLog2) throws IOException {
        this.loop = loop;
        this.id = id;
        this.backlog = backlog;
        this.ringBytesLog2 = ringBytesLog2;
    }

    static VerbsListener open(ControlLoop loop, InetSocketAddress twin, int backlog, int ringBytesLog2)
            throws IOException {
        RdmaCmId id = loop.channel().createId(RdmaCm.RDMA_PS_TCP);
        VerbsListener listener = null;
        try {
            listener = new VerbsListener(loop, id, backlog > 0 ? backlog : 50, ringBytesLog2);
            loop.bind(id, listener::onRequest);
            id.bindAddr(twin);
            id.listen(listener.backlog);
            return listener;
        } catch (IOException e) {
            if (listener != null) {
                listener.close();
            } else {
                StreamParts.destroyQuietly(id);
            }
            throw e;
        }
    }

    private void onRequest(CmMessage message) {
        if (message.type() != CmMessage.Type.CONNECT_REQUEST) {
            return;
        }
        var connection = new IncomingConnection(loop, this, message.id(), ringBytesLog2);
        RejectReason refusal = admit(connection);
        if (refusal != null) {
            connection.reject(refusal);
        } else {
            connection.begin(message.privateData());
        }
    }

    private synchronized RejectReason admit(IncomingConnection connection) {
        if (closed) {
            return RejectReason.CLOSING;
        }
        if (incoming.size() + queue.size() >= backlog) {
            return RejectReason.BACKLOG_FULL;
        }
        incoming.add(connection);
        return null;
    }

    /** The connection failed on its way; false if it is not on its way any more. */
    synchronized boolean failed(IncomingConnection connection) {
        return incoming.remove(connection);
    }

    /** The connection is complete. On the control thread. */
    void completed(IncomingConnection connection) {
        boolean ours;
        synchronized (this) {
            ours = incoming.remove(connection);
            if (ours && !closed) {
                queue.add(connection.complete());
                event.signal();
                ours = false;
            }
        }
        connection.finish();
        if (ours) {
            connection.complete().close(true);
        }
    }

    @Override
    public RdmaStream accept() {
        VerbsStream stream = queued();
        if (stream == null) {
            stream = takeIncoming();
        }
        return stream != null ? stream : queued(); // the control thread may have come round to it meanwhile
    }

    private synchronized VerbsStream queued() {
        VerbsStream stream = queue.poll();
        if (stream != null && queue.isEmpty()) {
            event.drain();
        }
        return stream;
    }

    /**
     * Takes a connection whose HELLO has come although the control thread has not come round to it: whoever knows that
     * a connect has returned finds it at once, as with TCP.
     */
    private VerbsStream takeIncoming() {
        for (IncomingConnection connection : snapshot()) {
            VerbsStream stream = connection.complete();
            if (stream != null && failed(connection)) {
                loop.execute(connection::finish);
                return stream;
            }
        }
        return null;
    }

    private synchronized List<IncomingConnection> snapshot() {
        return closed || incoming.isEmpty() ? List.of() : List.copyOf(incoming);
    }

    @Override
    public boolean acceptable() {
        return hasQueued() || hasIncoming() || hasQueued();
    }

    private synchronized boolean hasQueued() {
        return !queue.isEmpty();
    }

    private boolean hasIncoming() {
        for (IncomingConnection connection : snapshot()) {
            if (connection.complete() != null) {
                return true;
            }
        }
        return false;
    }

    @Override
    public int fd() {
        return event.fd();
    }

    @Override
    public void close() {
        ArrayDeque<VerbsStream> unaccepted;
        Set<IncomingConnection> unfinished;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            unaccepted = new ArrayDeque<>(queue);
            queue.clear();
            unfinished = Set.copyOf(incoming);
            event.close();
        }
        loop.unbind(id);
        StreamParts.destroyQuietly(id);
        unaccepted.forEach(stream -> stream.close(true));
        unfinished.forEach(connection -> loop.execute(connection::abandon));
    }
}
