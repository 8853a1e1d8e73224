/**
 * The Linux system calls that Verbena makes, as Java methods through {@code java.lang.foreign}.
 *
 * <p>Owns no policy: a method is one call, its result is the call's result, its failure is the negative errno. Knows
 * no other package of Verbena.
 */
package io.verbena.rdma.sys;
