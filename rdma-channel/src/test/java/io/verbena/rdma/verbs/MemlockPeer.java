package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;

/** Registers more memory than it may lock, and prints the message. */
final class MemlockPeer {
    private MemlockPeer() {}

    public static void main(String[] args) throws IOException {
        RdmaCmId id = Verbs.backend().createEventChannel().createId(RdmaCm.RDMA_PS_TCP);
        id.bindAddr(TestAddress.port(0));
        IbvPd pd = id.getVerbs().allocPd();
        try {
            RegisteredMemory memory = ((Device) id.getVerbs()).allocate(id, pd, 1 << 20, Endpoint.REMOTE_WRITE);
            memory.close();
            System.out.println("no limit");
        } catch (IOException e) {
            System.out.println(e.getMessage());
        }
    }
}
