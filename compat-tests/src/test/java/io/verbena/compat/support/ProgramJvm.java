package io.verbena.compat.support;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A program in a JVM of its own, spoken to by lines. Every wait has a deadline; {@link #close} ends the JVM that it
 * started and no other.
 */
public final class ProgramJvm implements AutoCloseable {
    private static final long DEADLINE_S = 60;
    private static final String END = "<end of output>";

    private final String name;
    private final Process process;
    private final Path report;
    private final BufferedWriter input;
    private final LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final StringBuilder transcript = new StringBuilder();
    private final Thread pump;

    private ProgramJvm(String name, Process process, Path report) {
        this.name = name;
        this.process = process;
        this.report = report;
        this.input = process.outputWriter(StandardCharsets.UTF_8);
        this.pump = Thread.ofPlatform().daemon().name(name + "-output").start(this::pump);
    }

    /**
     * Starts a program.
     *
     * @param provider the provider to run it with
     * @param main its main class
     * @param jvmOptions further JVM options
     * @param arguments the program's arguments
     */
    public static ProgramJvm start(Provider provider, Class<?> main, List<String> jvmOptions, String... arguments)
            throws IOException {
        return startUnder(List.of(), provider, main, jvmOptions, arguments);
    }

    /** As {@link #start}, with the JVM's command line behind another command. */
    public static ProgramJvm startUnder(
            List<String> wrapper, Provider provider, Class<?> main, List<String> jvmOptions, String... arguments)
            throws IOException {
        Path report = Files.createTempFile("verbena-report", ".txt");
        var command = new ArrayList<String>(wrapper);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-Xmx256m", "-Xshare:auto", "-ea"));
        command.addAll(provider.options());
        command.add("-Dio.verbena.report=" + report);
        command.addAll(jvmOptions);
        command.add("-cp");
        command.add(System.getProperty("verbena.jar") + ":" + System.getProperty("verbena.programs"));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        return new ProgramJvm(main.getSimpleName(), process, report);
    }

    private void pump() {
        try (var reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                synchronized (transcript) {
                    transcript.append(line).append('\n');
                }
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add("<output lost: " + e + ">");
        }
        lines.add(END);
    }

    /** The process. */
    public Process process() {
        return process;
    }

    /** Waits for a line that begins with {@code prefix} and returns what follows it. */
    public String expect(String prefix) throws InterruptedException {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_S);
        while (true) {
            String line = lines.poll(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null || line.equals(END)) {
                return fail(name + ": no line '" + prefix + "…', " + (line == null ? "time over" : "ended")
                        + "; output:\n" + transcript());
            }
            if (line.startsWith(prefix)) {
                return line.substring(prefix.length());
            }
        }
    }

    /** Writes a line to the program. */
    public void send(String line) throws IOException {
        input.write(line);
        input.newLine();
        input.flush();
    }

    /** Waits for the end of the JVM and returns its exit status. */
    public int awaitExit() throws InterruptedException {
        assertTrue(
                process.waitFor(DEADLINE_S, TimeUnit.SECONDS), () -> name + " does not end; output:\n" + transcript());
        pump.join(TimeUnit.SECONDS.toMillis(DEADLINE_S));
        return process.exitValue();
    }

    /** Verbena's counters, after the end of the JVM. */
    public Properties counters() throws IOException {
        var counters = new Properties();
        try (var reader = Files.newBufferedReader(report)) {
            counters.load(reader);
        }
        return counters;
    }

    /** A counter's value, 0 if there is none. */
    public long counter(String key) throws IOException {
        return Long.parseLong(counters().getProperty(key, "0"));
    }

    /** What the program wrote so far. */
    public String transcript() {
        synchronized (transcript) {
            return transcript.toString();
        }
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        Files.deleteIfExists(report);
    }
}
