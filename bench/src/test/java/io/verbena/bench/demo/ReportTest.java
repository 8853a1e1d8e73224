package io.verbena.bench.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
    @TempDir
    Path directory;

    @Test
    void transportsWithConnectionsAreNamedWithTheirBytes() throws Exception {
        Report report = report("""
            connections.soft=2
            connections.tcp=1
            connections.rdma=0
            bytesIn.soft=1048576
            bytesOut.soft=524288
            bytesOut.tcp=104858
            """);
        assertEquals("soft, 2 connections, 1.5 MiB + tcp, 1 connection, 0.1 MiB", report.describeConnections());
        assertEquals(2, report.fastConnections());
    }

    @Test
    void linesThatAreNoNumbersAreLeftOut() throws Exception {
        assertEquals(0, report("reason.tcp=not-local\n\nno equals sign\n").fastConnections());
    }

    @Test
    void onlyReasonsThatHappenedAreNamed() throws Exception {
        assertEquals(
                "; MODE_TCP: 2", report("reason.SOFT=0\nreason.MODE_TCP=2\n").describeReasons());
    }

    @Test
    void bothSidesMustCountTheSameConnections() throws Exception {
        Report client = report("connections.soft=2\n");
        assertTrue(report("accepted.soft=2\n").accepted(client));
        assertFalse(report("accepted.tcp=2\n").accepted(client));
    }

    @Test
    void noReportIsAFailure() {
        assertThrows(DemoException.class, () -> Report.read(directory.resolve("none.txt")));
    }

    private Report report(String lines) throws Exception {
        return Report.read(Files.writeString(Files.createTempFile(directory, "report", ".txt"), lines));
    }
}
