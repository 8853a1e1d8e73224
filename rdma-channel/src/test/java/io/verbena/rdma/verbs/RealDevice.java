package io.verbena.rdma.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
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
        assumeTrue("uml".equals(System.getProperty("io.verbena.test.bed")), "changes the interface; in the uml bed only");
    }

    /** Skips the test on iWARP. */
    static void requireWriteWithImm() throws IOException {
        RdmaEventChannel channel = Verbs.backend().createEventChannel();
        var id = channel.createId(com.ibm.disni.verbs.RdmaCm.RDMA_PS_TCP);
        try {
            id.bindAddr(TestAddress.port(0));
            assumeTrue(((Device) id.getVerbs()).hasWriteWithImm(), "iWARP has no RDMA WRITE WITH IMM");
        } catch (IOException e) {
            // The soft device has no device before there is a listener; it has WRITE WITH IMM.
            require();
            throw e;
        } finally {
            int unused = id.destroyId();
            unused = channel.destroyEventChannel();
        }
    }

    static InetSocketAddress listenAddress() {
        return TestAddress.port(0);
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
