package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.SocketAddress;

/** Hands each call to the object's own method; only the first event channel comes from the default backend. */
final class DispatchingCm extends RdmaCm {
    @Override
    public RdmaEventChannel createEventChannel() throws IOException {
        return Verbs.backend().createEventChannel();
    }

    @Override
    public RdmaCmId createId(RdmaEventChannel channel, short portSpace) throws IOException {
        return channel.createId(portSpace);
    }

    @Override
    public IbvQP createQP(RdmaCmId id, IbvPd pd, IbvQPInitAttr attr) throws IOException {
        return id.createQP(pd, attr);
    }

    @Override
    public void bindAddr(RdmaCmId id, SocketAddress address) throws IOException {
        id.bindAddr(address);
    }

    @Override
    public void listen(RdmaCmId id, int backlog) throws IOException {
        id.listen(backlog);
    }

    @Override
    public void resolveAddr(RdmaCmId id, SocketAddress source, SocketAddress destination, int timeoutMs)
            throws IOException {
        id.resolveAddr(source, destination, timeoutMs);
    }

    @Override
    public void resolveRoute(RdmaCmId id, int timeoutMs) throws IOException {
        id.resolveRoute(timeoutMs);
    }

    @Override
    public RdmaCmEvent getCmEvent(RdmaEventChannel channel, int timeoutMs) throws IOException {
        return channel.getCmEvent(timeoutMs);
    }

    @Override
    public void connect(RdmaCmId id, RdmaConnParam param) throws IOException {
        id.connect(param);
    }

    @Override
    public void accept(RdmaCmId id, RdmaConnParam param) throws IOException {
        id.accept(param);
    }

    @Override
    public int ackCmEvent(RdmaCmEvent event) {
        try {
            event.ackEvent();
            return 0;
        } catch (IOException e) {
            return -1;
        }
    }

    @Override
    public int disconnect(RdmaCmId id) throws IOException {
        return id.disconnect();
    }

    @Override
    public int destroyEventChannel(RdmaEventChannel channel) throws IOException {
        return channel.destroyEventChannel();
    }

    @Override
    public int destroyCmId(RdmaCmId id) throws IOException {
        return id.destroyId();
    }

    @Override
    public int destroyQP(RdmaCmId id) throws IOException {
        return id.destroyQP();
    }

    @Override
    public SocketAddress getSrcAddr(RdmaCmId id) throws IOException {
        return id.getSource();
    }

    @Override
    public SocketAddress getDstAddr(RdmaCmId id) throws IOException {
        return id.getDestination();
    }

    @Override
    public int destroyEp(RdmaCmId id) throws IOException {
        return id.destroyEp();
    }
}
