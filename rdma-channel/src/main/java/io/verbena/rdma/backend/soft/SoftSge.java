package io.verbena.rdma.backend.soft;

import com.ibm.disni.verbs.SVCPostSend;
import java.lang.foreign.MemorySegment;

/** A scatter/gather element. Not thread-safe. */
final class SoftSge implements SVCPostSend.SgeMod {
    /** For inline data, which is named by address without a key: the caller vouches for it, as with any verbs device. */
    static final MemorySegment ADDRESS_SPACE = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    long address;
    int length;
    int lkey;

    SoftSge(long address, int length, int lkey) {
        this.address = address;
        this.length = length;
        this.lkey = lkey;
    }

    @Override
    public void setAddr(long value) {
        address = value;
    }

    @Override
    public long getAddr() {
        return address;
    }

    @Override
    public void setLength(int value) {
        length = value;
    }

    @Override
    public int getLength() {
        return length;
    }

    @Override
    public void setLkey(int value) {
        lkey = value;
    }

    @Override
    public int getLkey() {
        return lkey;
    }
}
