package io.verbena.rdma.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What tests need that are about a real verbs stack: rdma-core, a kernel, a device. */
final class RealDevice {
    private RealDevice() {}

    /** Skips the test unless a real device is under test. */
    static void require() {
        assumeTrue(
                System.getProperty(Verbs.BACKEND_PROPERTY, "soft").equals("foreign"),
                "no real RDMA device here; compat-tests/testbed/run brings one");
    }

    /** Skips the test unless the kernel and its interfaces are the test bed's own. */
    static void requireUml() {
        require();
        assumeTrue(
                "uml".equals(System.getProperty("io.verbena.test.bed")), "changes the interface; in the uml bed only");
    }

    /** Skips the test on iWARP. */
    static void requireWriteWithImm() throws IOException {
        assumeTrue(transport() != DeviceTransport.IWARP, "iWARP has no RDMA WRITE WITH IMM");
    }

    /** What the device under test is. */
    static DeviceTransport transport() throws IOException {
        VerbsBackend backend = Verbs.backend();
        if (!backend.name().equals("foreign")) {
            return DeviceTransport.SOFT; // which has no device before there is a listener
        }
        RdmaEventChannel channel = backend.createEventChannel();
        RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
        try {
            id.bindAddr(TestAddress.port(0));
            return ((Device) id.getVerbs()).transport();
        } finally {
            int unused = id.destroyId();
            unused = channel.destroyEventChannel();
        }
    }

    /** Runs a command, which must succeed, and returns its lines. */
    static List<String> run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(30, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new AssertionError(String.join(" ", command) + ": " + output);
        }
        return output.lines().toList();
    }
}
