package io.verbena.rdma.stream;

import io.verbena.rdma.cm.ControlLoop;
import io.verbena.rdma.verbs.VerbsBackend;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.concurrent.ConcurrentHashMap;

/** The fabric over one backend: the soft device. */
final class VerbsFabric implements StreamFabric {
    private static final Logger LOG = System.getLogger("io.verbena.rdma.stream");

    /** How long it is remembered whether an address is ours. */
    private static final long ADDRESS_CACHE_NS = 1_000_000_000L;

    private static final int ADDRESS_CACHE_ENTRIES = 1024;

    private record Locality(boolean local, long untilNs) {}

    private final VerbsBackend backend;
    private final ConcurrentHashMap<InetAddress, Locality> localities = new ConcurrentHashMap<>();
    private volatile ControlLoop loop;

    VerbsFabric(VerbsBackend backend) {
        this.backend = backend;
    }

    private ControlLoop loop() throws IOException {
        ControlLoop l = loop;
        return l != null ? l : openLoop();
    }

    private synchronized ControlLoop openLoop() throws IOException {
        if (loop == null) {
            loop = new ControlLoop(backend);
        }
        return loop;
    }

    @Override
    public StreamListener listen(InetSocketAddress twin, int backlog, int ringBytes) throws IOException {
        return VerbsListener.open(loop(), twin, backlog, StreamSettings.ringBytesLog2(ringBytes));
    }

    @Override
    public Reason unreachable(InetSocketAddress remote) {
        InetAddress address = remote.getAddress();
        if (address.isLoopbackAddress()) {
            return null;
        }
        return isLocal(address) ? null : Reason.NOT_LOCAL;
    }

    private boolean isLocal(InetAddress address) {
        if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
            return false;
        }
        long nowNs = System.nanoTime();
        Locality known = localities.get(address);
        if (known == null || nowNs - known.untilNs > 0) {
            known = new Locality(askIsLocal(address), nowNs + ADDRESS_CACHE_NS);
            if (localities.size() >= ADDRESS_CACHE_ENTRIES) {
                localities.clear();
            }
            localities.put(address, known);
        }
        return known.local;
    }

    private static boolean askIsLocal(InetAddress address) {
        try {
            return NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException e) {
            return false;
        }
    }

    @Override
    public PendingConnect connect(InetSocketAddress local, InetSocketAddress remote, int ringBytes, boolean blocking) {
        int log2 = StreamSettings.ringBytesLog2(ringBytes);
        try {
            return blocking && !Thread.currentThread().isVirtual()
                    ? InlineConnect.start(backend, loop(), local, remote, log2)
                    : BackgroundConnect.start(loop(), local, remote, log2);
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "no connect over RDMA", e);
            return new FailedConnect(Reason.NO_RESOURCES);
        }
    }
}
