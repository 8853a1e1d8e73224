package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.SVCDeregMr;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.SVCRegMr;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** Hands each call to the object's own method. */
final class DispatchingVerbs extends RdmaVerbs {
    @Override
    public IbvPd allocPd(IbvContext context) throws IOException {
        return context.allocPd();
    }

    @Override
    public IbvCompChannel createCompChannel(IbvContext context) throws IOException {
        return context.createCompChannel();
    }

    @Override
    public IbvCQ createCQ(IbvContext context, IbvCompChannel channel, int cqe, int vector) throws IOException {
        return context.createCQ(channel, cqe, vector);
    }

    @Override
    public boolean getCqEvent(IbvCompChannel channel, IbvCQ cq, int timeoutMs) throws IOException {
        return channel.getCqEvent(cq, timeoutMs);
    }

    @Override
    public SVCRegMr regMr(IbvPd pd, ByteBuffer buffer, int access) throws IOException {
        return pd.regMr(buffer, access);
    }

    @Override
    public SVCRegMr regMr(IbvPd pd, long address, int length, int access) throws IOException {
        return pd.regMr(address, length, access);
    }

    @Override
    public int queryOdpSupport(IbvContext context) throws IOException {
        return context.queryOdpSupport();
    }

    @Override
    public int expPrefetchMr(IbvMr mr, long address, int length) throws IOException {
        return mr.expPrefetchMr(address, length);
    }

    @Override
    public SVCDeregMr deregMr(IbvMr mr) throws IOException {
        return mr.deregMr();
    }

    @Override
    public SVCPostSend postSend(IbvQP qp, List<IbvSendWR> wrs, List<IbvSendWR> bad) throws IOException {
        return qp.postSend(wrs, bad);
    }

    @Override
    public SVCPostRecv postRecv(IbvQP qp, List<IbvRecvWR> wrs, List<IbvRecvWR> bad) throws IOException {
        return qp.postRecv(wrs, bad);
    }

    @Override
    public SVCPollCq pollCQ(IbvCQ cq, IbvWC[] completions, int count) throws IOException {
        return cq.poll(completions, count);
    }

    @Override
    public SVCReqNotify reqNotifyCQ(IbvCQ cq, boolean solicitedOnly) throws IOException {
        return cq.reqNotification(solicitedOnly);
    }

    @Override
    public int ackCqEvents(IbvCQ cq, int count) throws IOException {
        return cq.ackEvents(count);
    }

    @Override
    public int destroyCompChannel(IbvCompChannel channel) throws IOException {
        return channel.destroyCompChannel();
    }

    @Override
    public int deallocPd(IbvPd pd) throws IOException {
        try {
            return pd.deallocPd();
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    @Override
    public int destroyCQ(IbvCQ cq) throws IOException {
        return cq.destroyCQ();
    }
}
