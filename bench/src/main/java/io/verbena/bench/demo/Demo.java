package io.verbena.bench.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Runs each program twice, server and client in JVMs of their own: with the default provider, and with the one flag that
 * makes it Verbena. The command lines differ by nothing else. Exit code 0 if all ran and Verbena carried what it should.
 */
public final class Demo {
    private static final String PROVIDER = "io.verbena.spi.RdmaSelectorProvider";
    private static final String PROGRAMS = "io.verbena.bench.demo.program.";
    private static final int SECONDS = Integer.getInteger("demo.seconds", 2);
    private static final int START_TIMEOUT_SECONDS = 30;
    private static final int CLIENT_TIMEOUT_SECONDS = 60;
    private static final int END_TIMEOUT_SECONDS = 15;

    private final Path directory;
    private final long startNs = System.nanoTime();
    private final List<String> failures = new ArrayList<>();

    private Demo(Path directory) {
        this.directory = directory;
    }

    /** A server program and its client. */
    private record Job(String title, String server, String client) {}

    private static final List<Job> JOBS = List.of(
            new Job("blocking SocketChannel", "BlockingServer", "BlockingClient"),
            new Job("Netty 4.2 echo (NIO)", "NettyEchoServer", "NettyEchoClient"),
            new Job("JDK HttpServer, HttpClient", "HttpBodyServer", "HttpBodyClient"));

    /** What one run gave: figures by name, and what carried the connections. */
    private record Outcome(Map<String, Double> figures, String transport) {
        String figure(String name, String format) {
            Double value = figures.get(name);
            return value == null ? "-" : String.format(Locale.ROOT, format, value);
        }
    }

    /** Argument: a directory for logs and reports. */
    public static void main(String[] args) throws Exception {
        System.exit(new Demo(Path.of(args[0])).run());
    }

    private int run() throws IOException, InterruptedException {
        clearDirectory();
        boolean provided = isProviderThere();
        if (!provided) {
            System.err.println("No class " + PROVIDER + " on the class path: only the default provider can be shown.");
        }
        List<Outcome> outcomes = new ArrayList<>();
        for (Job job : JOBS) {
            outcomes.add(tryJob(job, false));
            outcomes.add(provided ? tryJob(job, true) : new Outcome(Map.of(), "provider missing"));
        }
        System.out.println();
        System.out.println(table(outcomes));
        failures.forEach(failure -> System.err.println("FAILED: " + failure + "\n"));
        say(failures.isEmpty() ? "done" : "done, with " + failures.size() + " failures");
        if (!failures.isEmpty()) {
            return 1;
        }
        return provided ? 0 : 2;
    }

    /** A failed run leaves a column without figures; the others still run. */
    private Outcome tryJob(Job job, boolean verbena) throws IOException, InterruptedException {
        try {
            return runJob(job, verbena);
        } catch (DemoException e) {
            String label = job.title() + (verbena ? ", Verbena" : ", default provider");
            say(label + ": FAILED");
            failures.add(label + ": " + e.getMessage());
            return new Outcome(Map.of(), "failed");
        }
    }

    private Outcome runJob(Job job, boolean verbena) throws DemoException, IOException, InterruptedException {
        String with = verbena ? "Verbena" : "default provider";
        String prefix = job.server().replace("Server", "") + (verbena ? "-verbena" : "-default");
        try (Child server = start(prefix + "-server", verbena, job.title(), job.server(), List.of())) {
            List<String> arguments = new ArrayList<>();
            server.awaitPorts(START_TIMEOUT_SECONDS).forEach(port -> arguments.add(port.toString()));
            arguments.add(Integer.toString(SECONDS));
            String label = job.title() + ", " + with;
            try (Child client = start(prefix + "-client", verbena, label, job.client(), arguments)) {
                awaitClient(client, server);
                server.endInput();
                server.awaitExit(END_TIMEOUT_SECONDS);
                String transport = verbena ? transport(job, client, server) : defaultTransport(client, server);
                return new Outcome(client.results(), transport);
            }
        }
    }

    /** If the client fails, the reason may be found at the server. */
    private static void awaitClient(Child client, Child server) throws DemoException, InterruptedException {
        try {
            client.awaitExit(CLIENT_TIMEOUT_SECONDS);
        } catch (DemoException e) {
            server.dumpThreads();
            throw new DemoException(e.getMessage() + server.logTail());
        }
    }

    private Child start(String name, boolean verbena, String label, String program, List<String> arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        if (verbena) {
            command.add("-Djava.nio.channels.spi.SelectorProvider=" + PROVIDER);
        }
        command.add("-Dio.verbena.report=" + directory.resolve("report-%p.txt"));
        command.add("-Dsun.net.httpserver.nodelay=true");
        command.add("--enable-native-access=ALL-UNNAMED");
        command.add("-Xmx1g");
        command.add("-XX:+DisplayVMOutputToStderr");
        command.add("-XX:ErrorFile=" + directory.resolve("hs_err_%p.log"));
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(PROGRAMS + program);
        command.addAll(arguments);
        return new Child(name, command, directory.resolve(name + ".log"), text -> say(label + ": " + text));
    }

    /** What carried the client's connections, as both JVMs counted it. */
    private String transport(Job job, Child client, Child server) throws DemoException, IOException {
        Report made = Report.read(report(client));
        Report accepted = Report.read(report(server));
        if (!accepted.accepted(made)) {
            throw new DemoException(job.title() + ": the client made " + made.describeConnections()
                    + ", but the server accepted " + accepted.describeAccepted());
        }
        if (made.fastConnections() == 0) {
            failures.add(job.title() + ": Verbena was loaded, but the connections went over "
                    + made.describeConnections() + made.describeReasons());
        }
        return made.describeConnections();
    }

    /** A run without Verbena leaves no report. */
    private String defaultTransport(Child client, Child server) throws DemoException {
        for (Child child : List.of(client, server)) {
            if (Files.exists(report(child))) {
                throw new DemoException("Verbena was not asked for and wrote a report " + report(child));
            }
        }
        return "JDK TCP (no Verbena loaded)";
    }

    private Path report(Child child) {
        return directory.resolve("report-" + child.pid() + ".txt");
    }

    private static Table table(List<Outcome> outcomes) {
        Table table = new Table("program", "measured", "default provider", "with Verbena");
        for (int i = 0; i < JOBS.size(); i++) {
            Outcome plain = outcomes.get(2 * i);
            Outcome verbena = outcomes.get(2 * i + 1);
            table.row(JOBS.get(i).title(), "carried by", plain.transport(), verbena.transport());
            figures(table, "round trip p50, us", "p50us", "%.1f", plain, verbena);
            figures(table, "round trip p99, us", "p99us", "%.1f", plain, verbena);
            figures(table, "messages/s", "messagesPerSecond", "%,.0f", plain, verbena);
            figures(table, "MB/s", "MBps", "%,.0f", plain, verbena);
        }
        return table;
    }

    private static void figures(
            Table table, String measured, String name, String format, Outcome plain, Outcome verbena) {
        if (plain.figures().containsKey(name) || verbena.figures().containsKey(name)) {
            table.row("", measured, plain.figure(name, format), verbena.figure(name, format));
        }
    }

    private static boolean isProviderThere() {
        try {
            Class.forName(PROVIDER, false, Demo.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException _) {
            return false;
        }
    }

    private void clearDirectory() throws IOException {
        Files.createDirectories(directory);
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.sorted(Comparator.naturalOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }

    private void say(String text) {
        double seconds = (System.nanoTime() - startNs) / 1e9;
        System.out.println(String.format(Locale.ROOT, "[%5.1f s] %s", seconds, text));
    }
}
