/**
 * Owns the stream protocol of PROTOCOL.md as a sans-IO core: immediates, credits, half-close and the private data of
 * connection set-up; events in, immediates and permitted lengths out. It may use {@code io.verbena.rdma.ring} and
 * java.base, and knows no threads, clocks, verbs or native calls.
 */
package io.verbena.rdma.protocol;
