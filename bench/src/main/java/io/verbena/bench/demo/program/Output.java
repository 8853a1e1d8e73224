package io.verbena.bench.demo.program;

import java.io.IOException;
import java.util.Locale;

/** What a program tells the demo, one line each on standard output. */
final class Output {
    private Output() {}

    /** The server listens: on these ports. */
    static void ready(int... ports) {
        StringBuilder line = new StringBuilder("#ready");
        for (int port : ports) {
            line.append(' ').append(port);
        }
        System.out.println(line);
    }

    static void progress(String text) {
        System.out.println("#progress " + text);
    }

    static void result(String name, double value) {
        System.out.println("#result " + name + " " + String.format(Locale.ROOT, "%.3f", value));
    }

    /** Returns when the demo closes this program's standard input, or is gone. */
    static void awaitEndOfInput() throws IOException {
        while (System.in.read() >= 0) {
            // The demo sends nothing.
        }
    }
}
