package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import io.verbena.rdma.sys.Errno;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A completion channel (ibv_create_comp_channel(3)); its descriptor is non-blocking, close-on-exec.
 *
 * <p>Several queues may share it: an event of another queue than the one asked for is kept for that one. Events are
 * taken by one thread at a time.
 */
final class ForeignCompChannel extends IbvCompChannel {
    private static final long FD = VerbsDescriptor.COMP_CHANNEL.offset("fd");

    private final long handle;
    private final ConcurrentHashMap<Long, ForeignCq> queues = new ConcurrentHashMap<>(1);

    /** Two pointers that ibv_get_cq_event writes: the queue, its context. */
    private final MemorySegment result = Arena.ofAuto().allocate(JAVA_LONG, 2);

    private ForeignCompChannel(long handle, int fd, ForeignContext context) throws IOException {
        super(fd, context);
        this.handle = handle;
    }

    static ForeignCompChannel create(ForeignContext context) throws IOException {
        long handle =
                Downcalls.check(VerbsCalls.createCompChannel(context.handle()), "ibv_create_comp_channel", context);
        try {
            int fd = VerbsDescriptor.COMP_CHANNEL.at(handle).get(JAVA_INT, FD);
            Descriptors.setNonBlocking(fd);
            return new ForeignCompChannel(handle, fd, context);
        } catch (IOException | RuntimeException e) {
            int unused = VerbsCalls.destroyCompChannel(handle);
            throw e;
        }
    }

    long handle() throws IOException {
        if (!isOpen) {
            throw new IOException("the completion channel is destroyed");
        }
        return handle;
    }

    void add(long cq, ForeignCq queue) {
        queues.put(cq, queue);
    }

    void remove(long cq) {
        queues.remove(cq);
    }

    @Override
    public boolean getCqEvent(IbvCQ cq, int timeoutMs) throws IOException {
        var wanted = (ForeignCq) cq;
        if (takeEvent(wanted)) {
            return true;
        }
        while (timeoutMs != 0) {
            boolean readable = Descriptors.awaitReadable(getFd(), timeoutMs);
            if (takeEvent(wanted)) {
                return true;
            }
            if (timeoutMs > 0 || !readable) {
                return false;
            }
        }
        return false;
    }

    private boolean takeEvent(ForeignCq wanted) throws IOException {
        while (!wanted.takePending()) {
            int status = VerbsCalls.getCqEvent(handle(), result, result.asSlice(Long.BYTES));
            if (status == -Errno.EAGAIN || status == -Errno.EINTR) {
                return false;
            }
            Downcalls.check(status, "ibv_get_cq_event");
            ForeignCq queue = queues.get(result.get(JAVA_LONG, 0));
            if (queue != null) {
                queue.addPending();
            }
        }
        return true;
    }

    @Override
    public synchronized int destroyCompChannel() throws IOException {
        if (isOpen) {
            int status = VerbsCalls.destroyCompChannel(handle);
            Downcalls.check(status, "ibv_destroy_comp_channel");
            isOpen = false;
        }
        return 0;
    }
}
