package io.verbena.spi;

import io.verbena.rdma.stream.StreamFabric;
import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * The provider: sockets whose bytes go over RDMA where both ends can, over TCP where not.
 *
 * <p>Named by {@code -Djava.nio.channels.spi.SelectorProvider=io.verbena.spi.RdmaSelectorProvider}. Datagram channels,
 * pipes, Unix-domain channels and the inherited channel are the JDK's; all of them can be registered with
 * {@linkplain #openSelector() our selectors}. Thread-safe.
 */
public final class RdmaSelectorProvider extends SelectorProvider {
    private final Config config;
    private final Supplier<StreamFabric> fabric;

    /**
     * For {@link SelectorProvider#provider()}. Touches no device.
     *
     * @throws IllegalArgumentException if a system property of Verbena has a value that is not allowed
     */
    public RdmaSelectorProvider() {
        this(Config.fromSystemProperties());
    }

    RdmaSelectorProvider(Config config) {
        this(config, StreamFabric::get);
    }

    /** A provider whose streams come from {@code fabric}; asked for it at the first bind or connect that may use it. */
    RdmaSelectorProvider(Config config, Supplier<StreamFabric> fabric) {
        this.config = config;
        this.fabric = fabric;
        if (config.reportFile() != null) {
            VerbenaStats.reportAtExit(config.reportFile());
        }
    }

    Config config() {
        return config;
    }

    StreamFabric fabric() {
        return fabric.get();
    }

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        return JdkProvider.get().openDatagramChannel();
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return JdkProvider.get().openDatagramChannel(family);
    }

    @Override
    public Pipe openPipe() throws IOException {
        return JdkProvider.get().openPipe();
    }

    @Override
    public AbstractSelector openSelector() throws IOException {
        return new RdmaSelector(this);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() throws IOException {
        return new RdmaServerSocketChannel(this, JdkProvider.get().openServerSocketChannel());
    }

    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        ServerSocketChannel jdk =
                JdkProvider.get().openServerSocketChannel(Objects.requireNonNull(family, "'family' is null"));
        return family == StandardProtocolFamily.UNIX ? jdk : new RdmaServerSocketChannel(this, jdk);
    }

    @Override
    public SocketChannel openSocketChannel() throws IOException {
        return new RdmaSocketChannel(this, null, JdkProvider.get().openSocketChannel());
    }

    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        SocketChannel jdk = JdkProvider.get().openSocketChannel(Objects.requireNonNull(family, "'family' is null"));
        return family == StandardProtocolFamily.UNIX ? jdk : new RdmaSocketChannel(this, family, jdk);
    }

    @Override
    public Channel inheritedChannel() throws IOException {
        return JdkProvider.get().inheritedChannel();
    }

    /** A JDK channel like the first one of a channel opened with {@code family}, null for the default. */
    static SocketChannel openJdkSocketChannel(ProtocolFamily family) throws IOException {
        return family == null
                ? JdkProvider.get().openSocketChannel()
                : JdkProvider.get().openSocketChannel(family);
    }
}
