package io.verbena.rdma.stream;

import java.util.concurrent.TimeUnit;

/** A connect that could not even begin. */
record FailedConnect(Reason failure) implements PendingConnect {
    @Override
    public boolean isDone() {
        return true;
    }

    @Override
    public boolean await(long timeout, TimeUnit unit) {
        return true;
    }

    @Override
    public RdmaStream stream() {
        return null;
    }

    @Override
    public int fd() {
        return -1;
    }

    @Override
    public void cancel() {
        // nothing is under way
    }

    @Override
    public void release() {
        // nothing is held
    }
}
