package io.verbena.bench.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** A JVM that the demo started. Nothing waits for it without a deadline, and closing kills it if it still runs. */
final class Child implements AutoCloseable {
    private static final int LOG_LINES_SHOWN = 200;

    private final String name;
    private final Path log;
    private final Process process;
    private final Consumer<String> progress;
    private final CompletableFuture<List<Integer>> ports = new CompletableFuture<>();
    private final Map<String, Double> results = new LinkedHashMap<>();
    private final Thread reader;
    private final Thread reaper;

    /**
     * Starts the command.
     *
     * @param progress called with each progress line, on another thread
     */
    Child(String name, List<String> command, Path log, Consumer<String> progress) throws IOException {
        this.name = name;
        this.log = log;
        this.progress = progress;
        process = new ProcessBuilder(command).redirectError(log.toFile()).start();
        reaper = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(reaper);
        reader = Thread.ofPlatform().daemon().name("output of " + name).start(this::readOutput);
    }

    long pid() {
        return process.pid();
    }

    /** The ports that the server listens on, once it does. */
    List<Integer> awaitPorts(int timeoutSeconds) throws DemoException, InterruptedException {
        try {
            return ports.get(timeoutSeconds, TimeUnit.SECONDS);
        } catch (TimeoutException _) {
            dumpThreads();
            throw failure("did not listen within " + timeoutSeconds + " s");
        } catch (ExecutionException _) {
            throw failure("ended before it listened");
        }
    }

    /** Waits for a normal end. */
    void awaitExit(int timeoutSeconds) throws DemoException, InterruptedException {
        if (!process.waitFor(timeoutSeconds, TimeUnit.SECONDS)) {
            dumpThreads();
            throw failure("did not end within " + timeoutSeconds + " s");
        }
        reader.join(TimeUnit.SECONDS.toMillis(5));
        if (process.exitValue() != 0) {
            throw failure("ended with exit code " + process.exitValue());
        }
    }

    /** Tells a server to end, by the end of its standard input. */
    void endInput() throws IOException {
        process.getOutputStream().close();
    }

    /** Figures by name; complete after {@link #awaitExit}. */
    Map<String, Double> results() {
        synchronized (results) {
            return new LinkedHashMap<>(results);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        Runtime.getRuntime().removeShutdownHook(reaper);
    }

    private void readOutput() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                take(line);
            }
        } catch (IOException | RuntimeException e) {
            System.err.println("output of " + name + ": " + e);
        } finally {
            ports.completeExceptionally(new IOException("end of output"));
        }
    }

    private void take(String line) {
        List<String> words = List.of(line.split(" ", -1));
        switch (words.getFirst()) {
            case "#ready" ->
                ports.complete(words.stream().skip(1).map(Integer::valueOf).toList());
            case "#progress" -> progress.accept(line.substring("#progress ".length()));
            case "#result" -> {
                synchronized (results) {
                    results.put(words.get(1), Double.valueOf(words.get(2)));
                }
            }
            default -> System.out.println("    " + name + ": " + line);
        }
    }

    /** Lets the JVM print its threads to its log, so that a hang can be explained. */
    void dumpThreads() throws InterruptedException {
        if (!process.isAlive()) {
            return;
        }
        try {
            Process signal = new ProcessBuilder("kill", "-QUIT", Long.toString(pid())).start();
            signal.waitFor(5, TimeUnit.SECONDS);
            TimeUnit.SECONDS.sleep(1);
        } catch (IOException e) {
            System.err.println("no thread dump of " + name + ": " + e);
        }
    }

    private DemoException failure(String what) {
        return new DemoException(name + " (pid " + pid() + ") " + what + logTail());
    }

    /** The end of what the JVM wrote to its standard error, for a message. */
    String logTail() {
        StringBuilder text = new StringBuilder("\n  log of " + name + ", " + log + ":");
        try {
            List<String> lines = Files.readAllLines(log);
            lines.stream()
                    .skip(Math.max(0, lines.size() - LOG_LINES_SHOWN))
                    .forEach(line -> text.append("\n    ").append(line));
        } catch (IOException e) {
            text.append(' ').append(e);
        }
        return text.toString();
    }
}
