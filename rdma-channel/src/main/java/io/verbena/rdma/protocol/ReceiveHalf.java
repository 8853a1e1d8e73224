package io.verbena.rdma.protocol;

import io.verbena.rdma.protocol.ProtocolViolation.Rule;
import io.verbena.rdma.ring.RingGeometry;

/**
 * The receiving half of a connection: what came, what may be read, and what is owed to the peer.
 *
 * <p><b>Thread-safety:</b> guarded by the stream's poll lock, reading included, except for the methods whose
 * documentation says otherwise. Nothing here allocates (but the one {@link ProtocolViolation}), blocks or posts.
 *
 * <p><b>Use:</b> for each receive completion, post the receive again <em>first</em>, then call {@link #onImmediate}
 * (PROTOCOL.md, section 5.3, counts on this order). To read, copy from {@link #readPosition()} at most
 * {@link #readableBytes()}, then {@link #consume}.
 *
 * <p><b>Obligations:</b> after {@link #onImmediate}, {@link #consume} or {@link #discardInput}, take replies while
 * {@link #replyDue()} and post them before the program's call returns; else the peer may wait for ever.
 */
public final class ReceiveHalf {
    /** Event bit: a read that waits has something to do: bytes, the end of the stream, or a failure. */
    public static final int READABLE = 1;

    /** Event bit: a write that waits has something to do: more credit, or a failure. */
    public static final int WRITABLE = 2;

    /** Event bit: {@link #takeReply()} has something to post. */
    public static final int REPLY_DUE = 4;

    /** Event bit: the client's HELLO came: the server's connection may be shown to accept. */
    public static final int ESTABLISHED = 8;

    /** Event bit: the peer broke a rule: see {@link #violation()}; send RESET and disconnect. */
    public static final int VIOLATED = 16;

    /** Event bit: the peer's FIN_ACK or FIN came, which {@link SendHalf#mayDisconnect()} may have waited for. */
    public static final int CLOSING = 32;

    private final HalfBridge bridge;
    private final CreditTerms own;
    private final CreditTerms peer;
    private final ImmediateCodec codec;

    private ReceiveState state;
    private long receivedBytes;
    private long readBytes;
    private long creditedBytes;
    private long receivedWrs;
    private long creditedWrs;
    private boolean finAckOwed;
    private boolean discarding;
    private ProtocolViolation violation;

    ReceiveHalf(HalfBridge bridge, CreditTerms own, CreditTerms peer, ImmediateCodec codec, ReceiveState initial) {
        this.bridge = bridge;
        this.own = own;
        this.peer = peer;
        this.codec = codec;
        this.state = initial;
    }

    /**
     * This half's state.
     *
     * @return the state
     */
    public ReceiveState state() {
        return state;
    }

    /**
     * Takes a message of the peer. Its receive must have been posted again already.
     *
     * @param immediate the immediate in host order
     * @param byteLen byte_len of the work completion
     * @return event bits of this class; 0 if nothing changes for anybody
     */
    public int onImmediate(int immediate, int byteLen) {
        if (state.terminal()) {
            return 0;
        }
        int expected = codec.expectedByteLen(immediate);
        if (byteLen != expected) {
            return violated(Rule.BYTE_LEN, Integer.toUnsignedLong(byteLen), expected);
        }
        int kind = Immediate.kind(immediate);
        if (state == ReceiveState.HELLO_AWAITED && kind != Immediate.HELLO) {
            return violated(Rule.HELLO_FIRST, Integer.toUnsignedLong(immediate), Immediate.HELLO);
        }
        if (state == ReceiveState.CLOSED && kind != Immediate.FIN_ACK) {
            return violated(Rule.AFTER_CLOSE, Integer.toUnsignedLong(immediate), Immediate.FIN_ACK);
        }
        return switch (kind) {
            case Immediate.DATA -> onData(immediate);
            case Immediate.CREDIT -> onCredit(immediate);
            case Immediate.HELLO -> onHello(immediate);
            case Immediate.FIN -> onFin(immediate);
            case Immediate.FIN_ACK -> onFinAck(immediate);
            case Immediate.RESET -> onReset(immediate);
            default -> violated(Rule.UNKNOWN_KIND, kind, Immediate.RESET);
        };
    }

    private int onData(int immediate) {
        int bytes = Immediate.dataBytes(immediate);
        long lentBytes = creditedBytes + own.ringBytes() - receivedBytes;
        long uncreditedWrs = receivedWrs + 1 - creditedWrs;
        int contiguous = own.ring().contiguous(receivedBytes, own.ringBytes());
        if (state.complete()) {
            return violated(Rule.AFTER_FIN, bytes, 0);
        } else if (bytes < 1) {
            return violated(Rule.EMPTY_DATA, bytes, 1);
        } else if (bytes > lentBytes) {
            return violated(Rule.BYTE_CREDIT, bytes, lentBytes);
        } else if (uncreditedWrs > own.dataWrs()) {
            return violated(Rule.WR_CREDIT, uncreditedWrs, own.dataWrs());
        } else if (bytes > contiguous) {
            return violated(Rule.WRAP, bytes, contiguous);
        }
        receivedBytes += bytes;
        receivedWrs++;
        if (discarding || closedHere()) {
            readBytes = receivedBytes;
            return replyBit();
        }
        return READABLE | replyBit();
    }

    private int onCredit(int immediate) {
        int wrs = Immediate.creditWrs(immediate);
        long bytes = (long) Immediate.creditByteUnits(immediate) * peer.unitBytes();
        long owedBytes = bridge.sentBytes() - bridge.creditedBytes();
        long owedWrs = bridge.sentWrs() - bridge.creditedWrs();
        if (bytes == 0 && wrs == 0) {
            return violated(Rule.EMPTY_CREDIT, 0, 1);
        } else if (bytes > owedBytes) {
            return violated(Rule.CREDITED_BYTES, bytes, owedBytes);
        } else if (wrs > owedWrs) {
            return violated(Rule.CREDITED_WRS, wrs, owedWrs);
        }
        bridge.addCredited(bytes, wrs);
        return WRITABLE;
    }

    private int onHello(int immediate) {
        if (state != ReceiveState.HELLO_AWAITED) {
            return violated(Rule.HELLO_ONCE, Integer.toUnsignedLong(immediate), 0);
        } else if (Immediate.payload(immediate) != 0) {
            return violated(Rule.PAYLOAD, Immediate.payload(immediate), 0);
        }
        enter(ReceiveState.Event.HELLO);
        return ESTABLISHED | WRITABLE;
    }

    private int onFin(int immediate) {
        int payload = Immediate.payload(immediate);
        boolean first = state == ReceiveState.OPEN;
        if ((payload & ~Immediate.CLOSE_BIT) != 0) {
            return violated(Rule.PAYLOAD, payload, Immediate.CLOSE_BIT);
        } else if (!first && payload != Immediate.CLOSE_BIT) {
            return violated(Rule.AFTER_FIN, Integer.toUnsignedLong(immediate), 0);
        }
        finAckOwed |= first;
        boolean close = payload != 0;
        enter(close ? ReceiveState.Event.FIN_CLOSE : ReceiveState.Event.FIN);
        return READABLE | CLOSING | (close ? WRITABLE : 0) | replyBit();
    }

    private int onFinAck(int immediate) {
        SendState sent = bridge.sendState();
        boolean finSent = sent == SendState.FIN_SENT || sent == SendState.CLOSED || sent == SendState.RESET;
        if (Immediate.payload(immediate) != 0) {
            return violated(Rule.PAYLOAD, Immediate.payload(immediate), 0);
        } else if (!finSent || bridge.finAcked()) {
            return violated(Rule.FIN_ACK, bridge.finAcked() ? 2 : 1, finSent ? 1 : 0);
        }
        bridge.setFinAcked();
        return CLOSING;
    }

    private int onReset(int immediate) {
        if (Immediate.payload(immediate) != 0) {
            return violated(Rule.PAYLOAD, Immediate.payload(immediate), 0);
        }
        enter(ReceiveState.Event.RESET);
        return READABLE | WRITABLE | CLOSING;
    }

    private int violated(Rule rule, long value, long limit) {
        violation = new ProtocolViolation(rule, value, limit);
        enter(ReceiveState.Event.VIOLATION);
        return VIOLATED | READABLE | WRITABLE | CLOSING;
    }

    /**
     * Takes the end of the transport: disconnected, queue pair in error, or the peer's process dead. The caller reaps
     * the completion queue to empty first. After the peer's FIN it is no reset.
     *
     * @param peerConsumedEverything whether a peer that ended without FIN is known to have read all that this side sent
     *     and to have lost nothing that it wrote: on soft, a dead peer whose ring was all read. It counts as end of the
     *     stream then, else as reset. On RDMA devices it is not known: false
     * @return event bits of this class; 0 if the connection had ended before
     */
    public int onTransportEnd(boolean peerConsumedEverything) {
        if (state.terminal()) {
            return 0;
        }
        enter(peerConsumedEverything ? ReceiveState.Event.CLEAN_END : ReceiveState.Event.END);
        return READABLE | WRITABLE | CLOSING;
    }

    /** The only setter of the state. */
    private void enter(ReceiveState.Event event) {
        state = state.after(event);
        if (state == ReceiveState.CLOSED || state == ReceiveState.ENDED) {
            bridge.writeEnd(WriteEnd.BROKEN_PIPE);
        } else if (state == ReceiveState.RESET) {
            bridge.writeEnd(WriteEnd.RESET);
        }
        if (state.complete()) {
            bridge.setPeerComplete();
        }
    }

    /**
     * What the peer did against the protocol.
     *
     * @return the first violation, or null
     */
    public ProtocolViolation violation() {
        return violation;
    }

    /**
     * Bytes that arrived and were not consumed.
     *
     * @return a length in bytes, at most the ring's
     */
    public int readableBytes() {
        return (int) (receivedBytes - readBytes);
    }

    /**
     * Where to read.
     *
     * @return the position of the first unread byte, which is also the number of bytes consumed so far
     */
    public long readPosition() {
        return readBytes;
    }

    /**
     * The geometry of this side's ring.
     *
     * @return the geometry
     */
    public RingGeometry ring() {
        return own.ring();
    }

    /**
     * Gives back the space of bytes that have been copied out.
     *
     * @param bytes a length, from 0 to {@link #readableBytes()}
     * @throws IllegalArgumentException if it is out of that range
     */
    public void consume(int bytes) {
        if (bytes < 0 || bytes > readableBytes()) {
            throw new IllegalArgumentException("consume of " + bytes + " bytes, readable " + readableBytes());
        }
        readBytes += bytes;
    }

    /** Throws unread input away, and what still comes as well, while the peer gets its credit: for shutdownInput. */
    public void discardInput() {
        discarding = true;
        readBytes = receivedBytes;
    }

    /**
     * What a read finds now.
     *
     * @return {@link ReadEnd#NONE} while there are bytes to read or more may come
     */
    public ReadEnd readEnd() {
        if (readableBytes() > 0) {
            return ReadEnd.NONE;
        }
        return state.complete() ? ReadEnd.EOF : state == ReceiveState.RESET ? ReadEnd.RESET : ReadEnd.NONE;
    }

    /**
     * Whether a reply is to be posted.
     *
     * @return whether {@link #takeReply()} returns a message
     */
    public boolean replyDue() {
        return (finAckOwed && !state.terminal()) || creditDue();
    }

    /** After the peer's FIN nobody needs credit, and after this side's CLOSE or RESET nobody gets any. */
    private boolean creditDue() {
        return state == ReceiveState.OPEN
                && own.creditDue(readBytes - creditedBytes, receivedWrs - creditedWrs)
                && !closedHere();
    }

    private boolean closedHere() {
        SendState sent = bridge.sendState();
        return sent == SendState.CLOSED || sent == SendState.RESET;
    }

    private int replyBit() {
        return replyDue() ? REPLY_DUE : 0;
    }

    /**
     * Takes the next message that is owed to the peer: FIN_ACK, or a CREDIT that returns all receives and all whole
     * units of bytes (a remainder stays for the next one). What was taken must be handed to
     * {@link SendHalf#commitReply}; order among replies does not matter.
     *
     * @return a reply, or {@link Immediate#NONE}
     */
    public int takeReply() {
        if (finAckOwed && !state.terminal()) {
            finAckOwed = false;
            return Immediate.control(Immediate.FIN_ACK);
        }
        if (!creditDue()) {
            return Immediate.NONE;
        }
        int units = (int) ((readBytes - creditedBytes) / own.unitBytes());
        int wrs = (int) (receivedWrs - creditedWrs);
        creditedBytes += (long) units * own.unitBytes();
        creditedWrs += wrs;
        return Immediate.credit(wrs, units);
    }

    @Override
    public String toString() {
        return "ReceiveHalf[" + state + "/" + readEnd() + ", receivedBytes=" + receivedBytes + ", readBytes="
                + readBytes
                + ", creditedBytes=" + creditedBytes + ", receivedWrs=" + receivedWrs + ", creditedWrs=" + creditedWrs
                + "]";
    }
}
