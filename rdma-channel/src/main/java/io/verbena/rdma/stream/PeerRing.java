package io.verbena.rdma.stream;

/**
 * Where the peer's receive ring is.
 *
 * @param address its address in the device's terms
 * @param rkey its remote key
 */
record PeerRing(long address, int rkey) {}
