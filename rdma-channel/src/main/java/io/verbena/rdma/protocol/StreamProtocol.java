package io.verbena.rdma.protocol;

/**
 * The protocol core of one connection: its two halves, which share nothing but published counters and flags, so that
 * a writer under the send lock and a reader under the poll lock need not exclude each other.
 *
 * @param send guarded by the send lock
 * @param receive guarded by the poll lock
 */
public record StreamProtocol(SendHalf send, ReceiveHalf receive) {
    /**
     * The side that connected. It sends {@link SendHalf#commitHello()} as soon as it is established.
     *
     * @param own what this side lends
     * @param peer what the peer lends, from the accept's private data
     * @param limits what this side's device can do
     * @return the core
     */
    public static StreamProtocol client(CreditTerms own, CreditTerms peer, SendLimits limits) {
        return of(own, peer, limits, SendState.HELLO_OWED, ReceiveState.OPEN);
    }

    /**
     * The side that accepted. Its stream is handed to the program only when {@link ReceiveHalf#ESTABLISHED} was seen.
     *
     * @param own what this side lends
     * @param peer what the peer lends, from the connect's private data
     * @param limits what this side's device can do
     * @return the core
     */
    public static StreamProtocol server(CreditTerms own, CreditTerms peer, SendLimits limits) {
        return of(own, peer, limits, SendState.OPEN, ReceiveState.HELLO_AWAITED);
    }

    private static StreamProtocol of(
            CreditTerms own, CreditTerms peer, SendLimits limits, SendState sendState, ReceiveState receiveState) {
        HalfBridge bridge = new HalfBridge(sendState);
        return new StreamProtocol(
                new SendHalf(bridge, peer, limits), new ReceiveHalf(bridge, own, peer, limits.codec(), receiveState));
    }
}
