package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.verbena.rdma.verbs.ConnectionId;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A {@code struct rdma_cm_id} (rdma_create_id(3)).
 *
 * <p>As thread-safe as the library, but {@link #destroyId} and {@link #destroyQP} are for whoever knows that no other
 * call is under way; both may be called again.
 */
final class ForeignCmId extends RdmaCmId implements ConnectionId {
    /** What fits in RDMA_PS_TCP (rdma_connect(3), rdma_accept(3), rdma_reject(3)). */
    private static final int MAX_CONNECT_BYTES = 56;

    private static final int MAX_ACCEPT_BYTES = 196;
    private static final int MAX_REJECT_BYTES = 148;
    private static final int RDMA_OPTION_ID = 0;
    private static final int OPTION_TOS = 0;
    private static final int OPTION_ACK_TIMEOUT = 3;

    private static final Struct ID = RdmaCmDescriptor.CM_ID;
    private static final long VERBS = ID.offset("verbs");
    private static final long QP = ID.offset("qp");
    private static final long PORT_NUM = ID.offset("port_num");
    private static final long SOURCE = ID.offset("route.addr.src_storage");
    private static final long DESTINATION = ID.offset("route.addr.dst_storage");

    /** The living ids by their address, to find whom an event is about. */
    private static final ConcurrentHashMap<Long, ForeignCmId> IDS = new ConcurrentHashMap<>();

    private final long handle;
    private final MemorySegment struct;

    private ForeignCmId(long handle, ForeignEventChannel channel) throws IOException {
        super(channel, null);
        this.handle = handle;
        this.struct = handle == 0 ? MemorySegment.NULL : ID.at(handle);
    }

    /** Makes the object for an id that the library made. */
    static ForeignCmId adopt(long handle, ForeignEventChannel channel) throws IOException {
        var id = new ForeignCmId(handle, channel);
        IDS.put(handle, id);
        return id;
    }

    /** The object of an id; null if it is being destroyed. */
    static ForeignCmId find(long handle) {
        return IDS.get(handle);
    }

    /** Stands for an id that is gone. */
    static ForeignCmId destroyed(ForeignEventChannel channel) throws IOException {
        var id = new ForeignCmId(0, channel);
        id.isOpen = false;
        return id;
    }

    private long handle() throws IOException {
        if (!isOpen) {
            throw new IOException("the RDMA CM id is destroyed");
        }
        return handle;
    }

    @Override
    public IbvContext getVerbs() throws IOException {
        if (verbs == null) {
            handle();
            long context = Struct.pointer(struct, VERBS);
            verbs = context == 0 ? null : ForeignContext.of(context);
        }
        return verbs;
    }

    @Override
    public byte getPort_num() {
        return isOpen ? struct.get(JAVA_BYTE, PORT_NUM) : 0;
    }

    @Override
    public IbvQP createQP(IbvPd pd, IbvQPInitAttr attributes) throws IOException {
        if (!(getVerbs() instanceof ForeignContext context)) {
            throw new IOException("rdma_create_qp: the id is not bound to a device yet (resolve its address first)");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = QpAttributes.encode(attributes, context, arena);
            int status = RdmaCmCalls.createQp(handle(), ((ForeignPd) pd).handle(), attr);
            Downcalls.check(status, "rdma_create_qp", QpAttributes.describe(attributes));
            QpAttributes.granted(attr, attributes);
            var qp = new ForeignQp(Struct.pointer(struct, QP), context, pd, attributes);
            setQp(qp);
            return qp;
        }
    }

    @Override
    public void bindAddr(SocketAddress address) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            int status = RdmaCmCalls.bindAddr(handle(), SocketAddressDescriptor.encode(address, arena));
            Downcalls.check(status, "rdma_bind_addr", address);
        }
    }

    @Override
    public void listen(int backlog) throws IOException {
        int status = RdmaCmCalls.listen(handle(), backlog);
        if (status < 0) {
            throw Downcalls.failure(-status, "rdma_listen", getSource(), "backlog=" + backlog);
        }
    }

    @Override
    public void resolveAddr(SocketAddress source, SocketAddress destination, int timeoutMs) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = SocketAddressDescriptor.encode(source, arena);
            MemorySegment to = SocketAddressDescriptor.encode(destination, arena);
            int status = RdmaCmCalls.resolveAddr(handle(), from, to, timeoutMs);
            Downcalls.check(status, "rdma_resolve_addr", source, destination);
        }
    }

    @Override
    public void resolveRoute(int timeoutMs) throws IOException {
        int status = RdmaCmCalls.resolveRoute(handle(), timeoutMs);
        if (status < 0) {
            throw Downcalls.failure(-status, "rdma_resolve_route", getDestination());
        }
    }

    @Override
    public void connect(RdmaConnParam param) throws IOException {
        checkLength("rdma_connect", param, MAX_CONNECT_BYTES);
        try (Arena arena = Arena.ofConfined()) {
            int status = RdmaCmCalls.connect(handle(), ConnParamDescriptor.encode(param, qpNum(), arena));
            if (status < 0) {
                throw Downcalls.failure(-status, "rdma_connect", getDestination());
            }
        }
    }

    @Override
    public void accept(RdmaConnParam param) throws IOException {
        checkLength("rdma_accept", param, MAX_ACCEPT_BYTES);
        try (Arena arena = Arena.ofConfined()) {
            int status = RdmaCmCalls.accept(handle(), ConnParamDescriptor.encode(param, qpNum(), arena));
            if (status < 0) {
                throw Downcalls.failure(-status, "rdma_accept", getDestination());
            }
        }
    }

    private static void checkLength(String call, RdmaConnParam param, int limit) throws IOException {
        int length = param == null ? 0 : Byte.toUnsignedInt(param.getPrivate_data_len());
        if (length > limit) {
            throw new IOException(call + ": private data of " + length + " bytes > " + limit);
        }
    }

    private int qpNum() {
        return qpObj instanceof ForeignQp qp ? qp.number() : 0;
    }

    @Override
    public void reject(ByteBuffer privateData) throws IOException {
        int length = privateData.remaining();
        if (length > MAX_REJECT_BYTES) {
            throw new IOException("rdma_reject: private data of " + length + " bytes > " + MAX_REJECT_BYTES);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(Math.max(1, length));
            data.asByteBuffer().put(privateData.duplicate());
            int status = RdmaCmCalls.reject(handle(), data, (byte) length);
            Downcalls.check(status, "rdma_reject", length + " bytes");
        }
    }

    @Override
    public void migrate(RdmaEventChannel channel) throws IOException {
        int status = RdmaCmCalls.migrateId(handle(), ((ForeignEventChannel) channel).handle());
        Downcalls.check(status, "rdma_migrate_id");
        cmChannel = channel;
    }

    @Override
    public void setOption(int level, int name, int value) throws IOException {
        if (level != RDMA_OPTION_ID) {
            throw new UnsupportedOperationException("rdma_set_option: level " + level);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment option = arena.allocate(JAVA_INT);
            boolean isByte = name == OPTION_TOS || name == OPTION_ACK_TIMEOUT;
            if (isByte) {
                option.set(JAVA_BYTE, 0, (byte) value);
            } else {
                option.set(JAVA_INT, 0, value);
            }
            int status = RdmaCmCalls.setOption(handle(), level, name, option, isByte ? 1 : Integer.BYTES);
            Downcalls.check(status, "rdma_set_option", "name=" + name, "value=" + value);
        }
    }

    @Override
    public int disconnect() throws IOException {
        Downcalls.check(RdmaCmCalls.disconnect(handle()), "rdma_disconnect");
        return 0;
    }

    @Override
    public SocketAddress getSource() throws IOException {
        return address(SOURCE);
    }

    @Override
    public SocketAddress getDestination() throws IOException {
        return address(DESTINATION);
    }

    private SocketAddress address(long offset) throws IOException {
        handle();
        return SocketAddressDescriptor.decode(struct.asSlice(offset, SocketAddressDescriptor.STORAGE_BYTES));
    }

    @Override
    public synchronized int destroyQP() {
        if (qpObj instanceof ForeignQp qp && qp.isOpen()) {
            qp.close();
            RdmaCmCalls.destroyQp(handle);
        }
        setQp(null);
        return 0;
    }

    @Override
    public synchronized int destroyId() throws IOException {
        if (!isOpen) {
            return 0;
        }
        int unused = destroyQP();
        isOpen = false;
        IDS.remove(handle, this); // before its address is free for the next id
        Downcalls.check(RdmaCmCalls.destroyId(handle), "rdma_destroy_id");
        return 0;
    }

    @Override
    public int destroyEp() throws IOException {
        return destroyId();
    }

    @Override
    public boolean canReadPeer() {
        return false;
    }

    @Override
    public long readPeerLong(long remoteAddr, int rkey) {
        throw new UnsupportedOperationException("no RDMA device can read the peer's memory without a work request");
    }
}
