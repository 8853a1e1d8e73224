/**
 * The demo: runs unmodified programs in JVMs of their own, with the default provider and with Verbena, and compares.
 *
 * <p>Knows Verbena by the name of its provider, its system properties and the report it writes at exit, never by a class.
 */
package io.verbena.bench.demo;
