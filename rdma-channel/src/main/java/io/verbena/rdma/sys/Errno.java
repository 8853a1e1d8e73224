package io.verbena.rdma.sys;

import java.io.IOException;

/** The errno values that Verbena tells apart, and their names for messages (errno(3), Linux numbering). */
public final class Errno {
    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int EINTR = 4;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int ENODEV = 19;
    public static final int EINVAL = 22;
    public static final int ENFILE = 23;
    public static final int EMFILE = 24;
    public static final int EPIPE = 32;
    public static final int EPROTO = 71;
    public static final int EOPNOTSUPP = 95;
    public static final int EADDRINUSE = 98;
    public static final int EADDRNOTAVAIL = 99;
    public static final int ENETUNREACH = 101;
    public static final int ECONNRESET = 104;
    public static final int ENOBUFS = 105;
    public static final int EISCONN = 106;
    public static final int ENOTCONN = 107;
    public static final int ETOOMANYREFS = 109;
    public static final int ETIMEDOUT = 110;
    public static final int ECONNREFUSED = 111;
    public static final int EHOSTUNREACH = 113;
    public static final int EINPROGRESS = 115;

    private Errno() {}

    /**
     * The symbolic name of an errno.
     *
     * @param errno a positive errno
     * @return for example {@code "EMFILE"}, or {@code "errno 200"} if Verbena has no name for it
     */
    public static String name(int errno) {
        return switch (errno) {
            case EPERM -> "EPERM";
            case ENOENT -> "ENOENT";
            case EINTR -> "EINTR";
            case EAGAIN -> "EAGAIN";
            case ENOMEM -> "ENOMEM";
            case EACCES -> "EACCES";
            case ENODEV -> "ENODEV";
            case EINVAL -> "EINVAL";
            case ENFILE -> "ENFILE";
            case EMFILE -> "EMFILE";
            case EPIPE -> "EPIPE";
            case EPROTO -> "EPROTO";
            case EOPNOTSUPP -> "EOPNOTSUPP";
            case EADDRINUSE -> "EADDRINUSE";
            case EADDRNOTAVAIL -> "EADDRNOTAVAIL";
            case ENETUNREACH -> "ENETUNREACH";
            case ECONNRESET -> "ECONNRESET";
            case ENOBUFS -> "ENOBUFS";
            case EISCONN -> "EISCONN";
            case ENOTCONN -> "ENOTCONN";
            case ETOOMANYREFS -> "ETOOMANYREFS";
            case ETIMEDOUT -> "ETIMEDOUT";
            case ECONNREFUSED -> "ECONNREFUSED";
            case EHOSTUNREACH -> "EHOSTUNREACH";
            case EINPROGRESS -> "EINPROGRESS";
            default -> "errno " + errno;
        };
    }

    /**
     * Passes a result through, or throws if it is a negative errno.
     *
     * @param result what a method of {@link Linux} returned
     * @param call the call with its arguments, for the message
     * @return {@code result}
     * @throws IOException if {@code result} is negative; the message names the call and the errno
     */
    public static int check(int result, String call) throws IOException {
        if (result < 0) {
            throw new IOException(call + " failed: " + describe(-result));
        }
        return result;
    }

    /**
     * The name of an errno with the limit and the remedy where one is known.
     *
     * @param errno a positive errno
     * @return the text for an exception message
     */
    public static String describe(int errno) {
        return switch (errno) {
            case EMFILE -> "EMFILE (the process's limit of open files is reached; raise `ulimit -n`)";
            case ENFILE -> "ENFILE (the system's limit of open files is reached; raise fs.file-max)";
            case ENOMEM -> "ENOMEM (out of memory, or of mappings: vm.max_map_count)";
            default -> name(errno);
        };
    }
}
