/**
 * The byte-stream API that the {@code spi} module sees: streams, listeners, connects, readiness, reasons.
 *
 * <p>Owns the end-to-end behaviour of a stream over one queue pair. No type of verbs shows in its public API.
 */
package io.verbena.rdma.stream;
