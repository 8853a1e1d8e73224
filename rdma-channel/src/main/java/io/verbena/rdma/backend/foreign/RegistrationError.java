package io.verbena.rdma.backend.foreign;

import io.verbena.rdma.sys.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Says why memory can't be registered, with the limit and the remedy. */
final class RegistrationError {
    private static final String LIMIT_NAME = "Max locked memory";

    private RegistrationError() {}

    static IOException of(int errno, int bytes, int access, DeviceLimits limits) {
        String call = "ibv_reg_mr(" + bytes + " bytes, access=" + access + ") on " + limits.name() + " failed: ";
        if (errno != Errno.ENOMEM && errno != Errno.EAGAIN) {
            return new IOException(call + Errno.describe(errno));
        }
        return new IOException(call + Errno.name(errno) + "; locked memory is limited to " + memlock()
                + " (`ulimit -l`; raise it, or LimitMEMLOCK= of the service), memory regions to max_mr="
                + limits.maxMr());
    }

    /** The soft limit as /proc shows it: getrlimit(2) without a binding. */
    private static String memlock() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
                if (line.startsWith(LIMIT_NAME)) {
                    String soft = line.substring(LIMIT_NAME.length()).trim().split("\\s+", 2)[0];
                    return soft.equals("unlimited") ? soft : soft + " bytes";
                }
            }
        } catch (IOException e) {
            return "an unknown size";
        }
        return "an unknown size";
    }
}
