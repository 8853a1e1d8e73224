package io.verbena.rdma.backend.soft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.Linux;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client meets the owner of the port, and nobody else. */
@Timeout(30)
class MeetingTest {
    private static final Path SETPRIV = Path.of("/usr/bin/setpriv");
    private static final int OTHER_UID = 12345;

    private static ServerSocketChannel listen() throws IOException {
        return ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    private static SockDiag.Listener owner(ServerSocketChannel twin) throws IOException {
        return SockDiag.lookup((InetSocketAddress) twin.getLocalAddress(), null, new int[1]);
    }

    @Test
    void onlyTheSameUserIsTheOwnerAndNeverTheOverflowUser() {
        assertTrue(Meeting.isOwner(1000, 1000));
        assertTrue(Meeting.isOwner(0, 0));
        assertFalse(Meeting.isOwner(0, 1000));
        assertFalse(Meeting.isOwner(1000, 0));
        assertFalse(Meeting.isOwner(65534, 65534));
    }

    @Test
    void theKernelTellsOwnerAndInodeOfAPort() throws Exception {
        try (ServerSocketChannel twin = listen()) {
            SockDiag.Listener listener = owner(twin);
            assertEquals(Linux.getuid(), listener.uid());
            assertEquals(
                    twin.getLocalAddress(),
                    SockDiag.listeners(twin.socket().getLocalPort()).get(0).address());
            assertTrue(listener.inode() > 0);
        }
        int[] error = new int[1];
        assertNull(SockDiag.lookup(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1), null, error));
        assertEquals(-Errno.ENOENT, error[0]);
    }

    @Test
    void addressesOfThisHostAreTold() throws Exception {
        assertEquals(0, NetAddress.checkLocal(InetAddress.ofLiteral("127.3.2.1")));
        assertEquals(0, NetAddress.checkLocal(InetAddress.ofLiteral("::1")));
        assertEquals(-Errno.ENETUNREACH, NetAddress.checkLocal(InetAddress.ofLiteral("192.0.2.1")));
        int v6 = NetAddress.checkLocal(InetAddress.ofLiteral("2001:db8::1"));
        assertTrue(v6 < 0, "2001:db8::1 is not local: " + v6);
    }

    @Test
    void anImpostorOfAnotherUserCatchesNobody() throws Exception {
        assumeTrue(Linux.getuid() == 0 && Files.isExecutable(SETPRIV), "missing capability: root, to run another user");
        try (ServerSocketChannel twin = listen()) {
            String inode = Long.toString(owner(twin).inode());
            Process impostor = new ProcessBuilder(
                            SETPRIV.toString(),
                            "--reuid=" + OTHER_UID,
                            "--clear-groups",
                            System.getProperty("java.home") + "/bin/java",
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:+UseSerialGC",
                            "-cp",
                            location(SoftBackend.class) + ":" + location(Impostor.class),
                            Impostor.class.getName(),
                            inode)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (BufferedReader out =
                    new BufferedReader(new InputStreamReader(impostor.getInputStream(), StandardCharsets.UTF_8))) {
                String line = out.readLine();
                assumeTrue(line != null, "missing capability: the class path readable by another user");
                assertEquals("listening", line);
                assertNotMet(twin);
                assertCantListen(twin);
            } finally {
                Process unused = impostor.destroyForcibly();
            }
        }
    }

    private static String location(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }

    private static void assertNotMet(ServerSocketChannel twin) throws IOException {
        InetSocketAddress address = (InetSocketAddress) twin.getLocalAddress();
        assertEquals(-Errno.EPERM, Meeting.with(address, address).status());
    }

    private static void assertCantListen(ServerSocketChannel twin) throws IOException {
        RdmaEventChannel channel = new SoftBackend().createEventChannel();
        RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
        id.bindAddr(twin.getLocalAddress());
        IOException e = assertThrows(IOException.class, () -> id.listen(1));
        assertTrue(e.getMessage().contains("EADDRINUSE"), e.getMessage());
        int unused = id.destroyId();
        unused = channel.destroyEventChannel();
    }
}
