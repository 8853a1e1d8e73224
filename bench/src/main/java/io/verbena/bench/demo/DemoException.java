package io.verbena.bench.demo;

/** A run that did not do what it should: the message is all that the user needs. */
final class DemoException extends Exception {
    private static final long serialVersionUID = 1L;

    DemoException(String message) {
        super(message);
    }
}
