/**
 * The verbs seam: DiSNI's API plus small interfaces for what it lacks, and how Verbena's backends become DiSNI's
 * provider.
 *
 * <p>Owns no device. Knows DiSNI's abstract classes only, never a backend.
 */
package io.verbena.rdma.verbs;
