package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * The other process: connects to a port of this host, and sends every message back. Modes: {@code spin} polls,
 * {@code sleep} arms and sleeps, {@code hold} sends one message and then does nothing.
 */
final class EchoPeer {
    private static final int RECVS = 64;

    private EchoPeer() {}

    public static void main(String[] args) throws IOException {
        RdmaEventChannel channel = Verbs.backend().createEventChannel();
        InetSocketAddress to = TestAddress.port(Integer.parseInt(args[0]));
        Endpoint end = new Endpoint(channel, Endpoint.resolve(channel, to), Endpoint.Caps.DEFAULT);
        end.postRecv(RECVS);
        end.id.connect(Endpoint.param(end.describeRing()));
        RdmaCmEvent established = Endpoint.expect(channel, EventType.RDMA_CM_EVENT_ESTABLISHED);
        end.learnRing(((ConnectionEvent) established).privateData());
        if (args[1].equals("hold")) {
            end.writeImm(ByteBuffer.wrap(new byte[] {1, 2, 3}), 0, 42, 0);
            System.out.println("held");
            int unused = System.in.read();
            return;
        }
        echo(end, args[1].equals("sleep"));
        end.close();
        System.out.println("done");
    }

    private static void echo(Endpoint end, boolean sleep) throws IOException {
        while (true) {
            int n = end.pollOnce();
            if (n == 0 && sleep) {
                end.arm(false);
                n = end.pollOnce();
                if (n == 0) {
                    boolean unused = end.comp.getCqEvent(end.cq, 100);
                }
            }
            for (int i = 0; i < n; i++) {
                if (end.wcs[i].getStatus() != 0) {
                    return;
                }
                int length = end.wcs[i].getByte_len();
                end.postRecv(1);
                end.writeImm(end.ring.buffer().limit(length).position(0), 0, end.wcs[i].getImm_data(), 0);
            }
            if (n == 0) {
                Thread.onSpinWait();
            }
        }
    }
}
