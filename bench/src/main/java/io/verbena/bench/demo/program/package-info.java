/** The programs that the demo runs: plain Netty, JDK HTTP and java.nio code that knows nothing of Verbena. */
package io.verbena.bench.demo.program;
