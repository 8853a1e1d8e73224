/**
 * The RDMA connection manager's side of a connection: the control thread and its event loop, copies of CM events, and
 * the verbs objects of one connection with their order of creation and destruction.
 *
 * <p>Knows DiSNI's API, {@code verbs} and {@code sys}; not the protocol, the stream or a backend.
 */
package io.verbena.rdma.cm;
