package io.verbena.rdma.protocol;

/** What a read finds once everything that arrived has been read. */
public enum ReadEnd {
    /** Nothing yet: more may come. */
    NONE,
    /** The end of the stream: read gives -1. */
    EOF,
    /** The connection is gone without an orderly end: read fails with "Connection reset". */
    RESET
}
