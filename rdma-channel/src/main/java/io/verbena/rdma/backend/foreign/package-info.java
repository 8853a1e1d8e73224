/**
 * Real RDMA: rdma-core's librdmacm and libibverbs called through {@code java.lang.foreign}, as subclasses of DiSNI's
 * classes.
 *
 * <p>Owns the native objects and every struct layout. Knows DiSNI's API, {@code verbs} and {@code sys}; no other
 * backend, and nothing of the stream above.
 */
package io.verbena.rdma.backend.foreign;
