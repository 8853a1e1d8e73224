package io.verbena.rdma.verbs;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Where the device under test is reached: {@code io.verbena.test.address}, by default the loopback address. */
final class TestAddress {
    static final String PROPERTY = "io.verbena.test.address";

    private TestAddress() {}

    static InetAddress get() {
        String address = System.getProperty(PROPERTY);
        try {
            return address == null ? InetAddress.getLoopbackAddress() : InetAddress.getByName(address);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(PROPERTY + "=" + address, e);
        }
    }

    static InetSocketAddress port(int port) {
        return new InetSocketAddress(get(), port);
    }
}
