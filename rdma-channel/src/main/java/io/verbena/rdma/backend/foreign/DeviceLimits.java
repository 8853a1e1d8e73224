package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.verbena.rdma.verbs.DeviceTransport;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * What a device is and has (ibv_query_device(3), ibv_query_port(3)).
 *
 * @param name for example {@code mlx5_0}
 * @param transport what carries its messages, by its first port
 * @param maxQpWr work requests of a queue
 * @param maxCqe entries of a completion queue
 * @param maxQp queue pairs
 * @param maxCq completion queues
 * @param maxMr memory regions
 */
record DeviceLimits(String name, DeviceTransport transport, int maxQpWr, int maxCqe, int maxQp, int maxCq, int maxMr) {
    private static final int TRANSPORT_IWARP = 1;
    private static final byte LINK_LAYER_INFINIBAND = 1;
    private static final byte FIRST_PORT = 1;

    private static final Struct ATTR = VerbsDescriptor.DEVICE_ATTR;

    static DeviceLimits query(long context, MemorySegment struct) throws IOException {
        MemorySegment device =
                VerbsDescriptor.DEVICE.at(Struct.pointer(struct, VerbsDescriptor.CONTEXT.offset("device")));
        String name = device.getString(VerbsDescriptor.DEVICE.offset("name"));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = arena.allocate(ATTR.layout());
            Downcalls.check(VerbsCalls.queryDevice(context, attr), "ibv_query_device", name);
            return new DeviceLimits(
                    name,
                    transport(context, device, arena),
                    attr.get(JAVA_INT, ATTR.offset("max_qp_wr")),
                    attr.get(JAVA_INT, ATTR.offset("max_cqe")),
                    attr.get(JAVA_INT, ATTR.offset("max_qp")),
                    attr.get(JAVA_INT, ATTR.offset("max_cq")),
                    attr.get(JAVA_INT, ATTR.offset("max_mr")));
        }
    }

    /** RoCE is InfiniBand's transport over a link layer of another kind; a software device says "unspecified" there. */
    private static DeviceTransport transport(long context, MemorySegment device, Arena arena) throws IOException {
        if (device.get(JAVA_INT, VerbsDescriptor.DEVICE.offset("transport_type")) == TRANSPORT_IWARP) {
            return DeviceTransport.IWARP;
        }
        MemorySegment port = arena.allocate(VerbsDescriptor.PORT_ATTR.layout());
        Downcalls.check(VerbsCalls.queryPort(context, FIRST_PORT, port), "ibv_query_port", "port=" + FIRST_PORT);
        byte linkLayer = port.get(JAVA_BYTE, VerbsDescriptor.PORT_ATTR.offset("link_layer"));
        return linkLayer == LINK_LAYER_INFINIBAND ? DeviceTransport.INFINIBAND : DeviceTransport.ROCE;
    }
}
