package io.verbena.spi;

import java.io.IOException;
import java.net.SocketException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;

/** The exceptions of channels as {@code java.net.Socket} and {@code ServerSocket} report them. */
final class JdkExceptions {
    private JdkExceptions() {}

    /** For operations that throw IOException: only unchecked exceptions of channels are translated. */
    static IOException forSocket(RuntimeException e) {
        return toSocketException(e);
    }

    /** For operations that throw SocketException, the options. */
    static SocketException forOption(IOException e) {
        if (e instanceof SocketException socketException) {
            return socketException;
        }
        return withCause(e instanceof ClosedChannelException ? "Socket is closed" : e.getMessage(), e);
    }

    /** Rethrows what has no counterpart. */
    private static SocketException toSocketException(RuntimeException e) {
        return switch (e) {
            case NotYetConnectedException x -> withCause("Socket is not connected", x);
            case AlreadyBoundException x -> withCause("Already bound", x);
            case AlreadyConnectedException x -> withCause("Already connected", x);
            case NotYetBoundException x -> withCause("Socket is not bound yet", x);
            case UnsupportedAddressTypeException x -> withCause("Unsupported address type", x);
            case UnresolvedAddressException x -> withCause("Unresolved address", x);
            default -> throw e;
        };
    }

    private static SocketException withCause(String message, Exception cause) {
        return new SocketException(message, cause);
    }
}
