package io.verbena.rdma.verbs;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A second JVM with the tests' class path; ended by its own handle. */
public final class Jvm implements AutoCloseable {
    final Process process;
    private final BufferedReader out;

    public Jvm(Class<?> main, String... args) throws IOException {
        this(List.of(), main, args);
    }

    /** Starts the JVM by a command that takes its command line. */
    public Jvm(List<String> prefix, Class<?> main, String... args) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-ea",
                "-cp",
                System.getProperty("java.class.path"),
                "-Dio.verbena.verbs=" + System.getProperty("io.verbena.verbs", "soft"),
                "-D" + TestAddress.PROPERTY + "=" + TestAddress.get().getHostAddress(),
                "-Dio.verbena.test.device=" + System.getProperty("io.verbena.test.device", ""),
                main.getName()));
        command.addAll(List.of(args));
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** The next line that it prints. */
    public String line() throws IOException {
        return out.readLine();
    }

    /** Sends it a line. */
    public void send(String line) throws IOException {
        process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    /** Kill -9. */
    public void kill() {
        Process unused = process.destroyForcibly();
    }

    @Override
    public void close() throws IOException {
        kill();
        try {
            boolean unused = process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        out.close();
    }
}
