package io.verbena.rdma.protocol;

/** Why nothing can be written any more. */
public enum WriteEnd {
    /** Writing is possible, as far as credit and the send queue allow. */
    NONE,
    /** This side sent FIN or RESET: write fails with ClosedChannelException. */
    SHUT_DOWN,
    /** The peer reads no more: write fails with "Broken pipe". */
    BROKEN_PIPE,
    /** The connection is gone without an orderly end: write fails with "Connection reset". */
    RESET
}
