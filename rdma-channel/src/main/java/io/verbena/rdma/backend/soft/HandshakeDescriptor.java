package io.verbena.rdma.backend.soft;

/**
 * Layout of the messages of the connection set-up, in native byte order (both processes are on one host).
 *
 * <pre>
 *   client                                server
 *     | -- REQUEST (memory, private data) -> |   CONNECT_REQUEST
 *     | &lt;- ACCEPT (memory, private data) --- |   or REJECT (status, private data)
 *     | -- 'R' (ready) --------------------> |   ESTABLISHED
 *     | &lt;------------- 'W' (wake-up) ------> |   any number, either way
 *
 *   +------+---------+-------+------+-----------+----------+
 *   | 0    | magic 4         | ver 2| type 1    | parts 1  |
 *   | 8    | pair id, 16                                   |
 *   | 24   | source address, 24 (NetAddress)               |
 *   | 48   | destination address, 24                       |
 *   | 72   | queue pair number 4    | ring entries 4       |
 *   | 80   | index of the block's segment 4 | status 4     |
 *   | 88   | offset of the block 8                         |
 *   | 96   | parts x (segment id 8, bytes 8), 9 at most    |
 *   | 240  | private data, to the end                      |
 *   +------+-----------------------------------------------+
 * </pre>
 */
final class HandshakeDescriptor {
    static final int MAGIC = 0x56524231;
    static final short VERSION = 1;

    static final int REQUEST = 1;
    static final int ACCEPT = 2;
    static final int REJECT = 3;

    static final byte READY = 'R';
    static final byte WAKE = 'W';

    /** One for the block and one for each key. */
    static final int MAX_SEGMENTS = 1 + BlockDescriptor.KEY_COUNT;

    static final int PRIVATE_DATA = 96 + MAX_SEGMENTS * 16;

    static final int MAX_CONNECT_DATA = 56;
    static final int MAX_ACCEPT_DATA = 196;
    static final int MAX_REJECT_DATA = 148;
    static final int MAX_BYTES = PRIVATE_DATA + MAX_ACCEPT_DATA;

    static {
        assert PRIVATE_DATA == 240;
    }

    private HandshakeDescriptor() {}
}
