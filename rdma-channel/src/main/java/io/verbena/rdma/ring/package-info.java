/**
 * Owns the arithmetic of byte rings: positions that never wrap, offsets that do, and copies between a ring's memory and
 * a caller's buffer. It knows nothing of messages, credits, verbs, threads or clocks.
 */
package io.verbena.rdma.ring;
