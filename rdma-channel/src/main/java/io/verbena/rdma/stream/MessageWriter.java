package io.verbena.rdma.stream;

import io.verbena.rdma.cm.PostCalls;
import io.verbena.rdma.protocol.SendHalf;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;

/**
 * Cuts what a program writes into messages and posts them. Guarded by the stream's send lock; allocates nothing in
 * steady state.
 *
 * <p>A failed post ends the connection; the reaper finds that out by the queue pair's error completions, so it is not
 * reported twice: the write then returns what was posted before.
 */
final class MessageWriter {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.stream");

    /** A message is at most this long, so that the peer copies one out while the next is copied in. */
    private static final int MAX_MESSAGE_BYTES = 64 * 1024;

    /** Buffers shorter than this are gathered into one message. */
    private static final int GATHER_BELOW_BYTES = 4 * 1024;

    private static final int STAGE_BYTES = 16 * 1024;

    private final SendHalf tx;
    private final PostCalls posts;
    private final PeerRing peer;

    /** Null on a device that inlines every message. */
    private final ByteBuffer sendRing;

    private ByteBuffer stage;
    private volatile boolean failed;

    MessageWriter(SendHalf tx, PostCalls posts, ByteBuffer sendRing, PeerRing peer) throws IOException {
        this.tx = tx;
        this.posts = posts;
        this.sendRing = sendRing;
        this.peer = peer;
        posts.peerRing(peer.rkey());
    }

    /** Whether a post failed: the connection has ended. May be called by any thread. */
    boolean failed() {
        return failed;
    }

    int write(ByteBuffer src) {
        int start = src.position();
        int remaining = src.remaining();
        while (remaining > 0) {
            int n = tx.plan(Math.min(remaining, MAX_MESSAGE_BYTES));
            if (n == 0 || !post(src, src.position(), n)) {
                break;
            }
            src.position(src.position() + n);
            remaining -= n;
        }
        return src.position() - start;
    }

    long write(ByteBuffer[] srcs, int offset, int length) {
        long total = 0;
        int end = offset + length;
        for (int i = offset; i < end; ) {
            int run = Math.max(1, smallRun(srcs, i, end));
            int wanted = remaining(srcs, i, i + run);
            int n = run > 1 ? gather(srcs, i, i + run, wanted) : write(srcs[i]);
            total += n;
            if (n < wanted) {
                break;
            }
            i += run;
        }
        return total;
    }

    /** How many buffers from {@code i} on are short and together fit the stage. */
    private static int smallRun(ByteBuffer[] srcs, int i, int end) {
        int bytes = 0;
        int run = 0;
        while (i + run < end && srcs[i + run].remaining() < GATHER_BELOW_BYTES) {
            bytes += srcs[i + run].remaining();
            if (bytes > STAGE_BYTES) {
                break;
            }
            run++;
        }
        return run;
    }

    /** Posts several short buffers as one message, or as much of them as is permitted; a ring's end makes it two. */
    private int gather(ByteBuffer[] srcs, int from, int to, int wanted) {
        int total = 0;
        while (total < wanted) {
            int n = tx.plan(wanted - total);
            if (n == 0) {
                break;
            }
            fillStage(srcs, from, to, n);
            if (!post(stage, 0, n)) {
                break;
            }
            total += n;
        }
        return total;
    }

    private static int remaining(ByteBuffer[] srcs, int from, int to) {
        int bytes = 0;
        for (int i = from; i < to; i++) {
            bytes += srcs[i].remaining();
        }
        return bytes;
    }

    private void fillStage(ByteBuffer[] srcs, int from, int to, int bytes) {
        if (stage == null) {
            stage = ByteBuffer.allocate(STAGE_BYTES);
        }
        int at = 0;
        for (int i = from; i < to && at < bytes; i++) {
            ByteBuffer src = srcs[i];
            int n = Math.min(src.remaining(), bytes - at);
            stage.put(at, src, src.position(), n);
            src.position(src.position() + n);
            at += n;
        }
    }

    private boolean post(ByteBuffer src, int offset, int bytes) {
        boolean inline = tx.inline();
        if (!inline) {
            sendRing.put(tx.localOffset(), src, offset, bytes);
        }
        tx.commit(bytes);
        try {
            long to = peer.address() + tx.remoteOffset();
            if (inline) {
                posts.write(src, offset, bytes, to, tx.immediate(), tx.wrId(), tx.signalled());
            } else {
                posts.writeFromSendRing(tx.localOffset(), bytes, to, tx.immediate(), tx.wrId(), tx.signalled());
            }
            return !failed;
        } catch (IOException e) {
            return fail(e);
        }
    }

    void control(int immediate) {
        try {
            posts.control(peer.address(), immediate, tx.wrId(), tx.signalled());
        } catch (IOException e) {
            failed = !fail(e);
        }
    }

    private boolean fail(IOException e) {
        LOG.log(Level.DEBUG, "a post failed, the connection ends", e);
        failed = true;
        return false;
    }
}
