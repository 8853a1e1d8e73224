package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaProvider;
import com.ibm.disni.verbs.RdmaVerbs;

/** DiSNI's provider as Verbena installs it: every call goes to the object's own method. Stateless. */
final class DispatchingProvider extends RdmaProvider {
    private final RdmaCm cm = new DispatchingCm();
    private final RdmaVerbs verbs = new DispatchingVerbs();

    @Override
    public RdmaCm openCm() {
        return cm;
    }

    @Override
    public RdmaVerbs openVerbs() {
        return verbs;
    }

    @Override
    public int getVersion() {
        return 0;
    }
}
