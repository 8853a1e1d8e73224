/**
 * The embedded software device: a verbs device made of shared memory, for processes on one host and in one network
 * namespace.
 *
 * <p>Owns memory shared with the peer process, the Unix sockets, and the queue pairs. Knows DiSNI's API, the verbs seam
 * and the system calls; no other backend and nothing above the seam.
 *
 * <p>Whatever the peer can write is copied first, then checked, then used; nothing that it does makes a call of ours
 * block or touch memory outside what it was given.
 */
package io.verbena.rdma.backend.soft;
