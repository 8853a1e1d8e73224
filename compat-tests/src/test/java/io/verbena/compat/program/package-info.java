/** Unmodified programs: they use java.nio and know nothing of Verbena. */
package io.verbena.compat.program;
