package io.verbena.rdma.stream;

import io.verbena.rdma.cm.ControlLoop;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Keeps a closed stream's queue pair until what it sent is delivered (PROTOCOL.md, section 6): its own requests
 * completed and the peer answered the FIN, or the transport ended, or a bound passed. Belongs to the control thread.
 */
final class LingeringClose {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.stream");

    private final ControlLoop loop;
    private final VerbsStream stream;
    private ControlLoop.Timer timeout;
    private boolean watching;
    private boolean over;

    LingeringClose(ControlLoop loop, VerbsStream stream) {
        this.loop = loop;
        this.stream = stream;
    }

    void begin() {
        timeout = loop.schedule(StreamSettings.LINGER_NS, this::giveUp);
        try {
            loop.watch(stream.fd(), this::wake);
            watching = true;
            look();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "can't wait until {0} has delivered what was written", stream);
            finish();
        }
    }

    private void wake() {
        if (!over) {
            stream.consumeEvent();
            look();
        }
    }

    /** Takes completions and looks whether it is time. */
    void look() {
        if (over || !watching) {
            return;
        }
        int unused = stream.arm();
        if (stream.delivered()) {
            finish();
        }
    }

    private void giveUp() {
        LOG.log(Level.DEBUG, "{0} was closed and not answered", stream);
        finish();
    }

    private void finish() {
        if (over) {
            return;
        }
        over = true;
        timeout.cancel();
        if (watching) {
            loop.unwatch(stream.fd());
        }
        stream.release();
    }
}
