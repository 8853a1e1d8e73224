package io.verbena.rdma.protocol;

/**
 * What a peer did against the protocol. The connection is reset because of it.
 *
 * @param rule the rule that was broken
 * @param value the value that came
 * @param limit what the rule allows there: an upper bound, or the one value expected
 */
public record ProtocolViolation(Rule rule, long value, long limit) {
    /** The rules that a received message is held against. */
    public enum Rule {
        /** A message other than HELLO came first; the value is its immediate. */
        HELLO_FIRST,
        /** A HELLO came where none may; the value is its immediate. */
        HELLO_ONCE,
        /** A control message of a kind that does not exist; the value is the kind. */
        UNKNOWN_KIND,
        /** A payload has bits that must be 0; the value is the payload, the limit a mask of the allowed bits. */
        PAYLOAD,
        /** The work completion's byte_len is not what the immediate demands. */
        BYTE_LEN,
        /** DATA without bytes; the limit is the least length. */
        EMPTY_DATA,
        /** DATA longer than the ring space that its sender was lent. */
        BYTE_CREDIT,
        /** DATA although its sender has no credit of receives; the value is the number of uncredited messages. */
        WR_CREDIT,
        /** DATA that goes beyond the end of the ring. */
        WRAP,
        /** DATA, or a second FIN, after FIN; the value is its immediate. */
        AFTER_FIN,
        /** A message other than FIN_ACK after FIN with CLOSE; the value is its immediate. */
        AFTER_CLOSE,
        /** A CREDIT that gives back no bytes and no receives. */
        EMPTY_CREDIT,
        /** A CREDIT that gives back more bytes than were sent. */
        CREDITED_BYTES,
        /** A CREDIT that gives back more receives than were used. */
        CREDITED_WRS,
        /** A FIN_ACK without FIN, or a second one; the value is the number of FIN_ACKs. */
        FIN_ACK
    }

    @Override
    public String toString() {
        return "protocol violation " + rule + ": value=" + value + " limit=" + limit;
    }
}
