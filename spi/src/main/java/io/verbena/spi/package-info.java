/**
 * The java.nio semantics: provider, channels, selector, keys, socket adaptors, options and the choice between RDMA
 * streams and TCP. Knows {@code io.verbena.rdma.stream} and {@code io.verbena.rdma.sys}, never verbs.
 *
 * <p>Lock order, outermost first: a selector's monitor, its selected-key set, a channel's {@code readLock},
 * {@code writeLock} (or {@code acceptLock}), {@code stateLock}, locks of JDK channels and of streams, a selector's
 * update queue, its wake-up lock.
 */
package io.verbena.spi;
