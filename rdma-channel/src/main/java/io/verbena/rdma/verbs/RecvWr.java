package io.verbena.rdma.verbs;

import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;

/**
 * A prepared receive work request with the fields that DiSNI's modifier can't set; every backend's
 * {@link SVCPostRecv#getWrMod} returns one. Not thread-safe.
 */
public interface RecvWr extends SVCPostRecv.RecvWRMod {
    /** Sets the work request's id. */
    void setWr_id(long id);

    /**
     * Posts the request several times with the same id; for requests without scatter/gather elements.
     *
     * @param count at least 1; stays in force for later executions
     */
    void setRepeat(int count);

    /**
     * Changes a scatter/gather element for later executions.
     *
     * @param index from 0 to the number of prepared elements
     * @throws UnsupportedOperationException if the backend's receives can't be changed
     */
    default SVCPostSend.SgeMod getSgeMod(int index) {
        throw new UnsupportedOperationException("this backend's receive requests keep their elements");
    }
}
