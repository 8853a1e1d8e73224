/**
 * Waiting for completions: poll, adaptive spin, arm, re-check, sleep; wake-up; parking of virtual threads
 * (CONCURRENCY.md).
 *
 * <p>Owns sleeping threads and the use of one completion queue. Knows DiSNI's API and {@code sys}, not the protocol, the
 * stream or a backend.
 */
package io.verbena.rdma.completion;
