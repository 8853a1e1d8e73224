package io.verbena.rdma.backend.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostSend;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** One {@code struct ibv_sge} of a prepared request. Not thread-safe. */
final class ForeignSge implements SVCPostSend.SgeMod {
    private final MemorySegment sge;

    ForeignSge(MemorySegment sge) {
        this.sge = sge;
    }

    /** Writes a list of elements to native memory. */
    static void write(List<IbvSge> list, MemorySegment natives) {
        for (int i = 0; i < list.size(); i++) {
            var sge = new ForeignSge(natives.asSlice(i * VerbsDescriptor.SGE_BYTES, VerbsDescriptor.SGE_BYTES));
            sge.setAddr(list.get(i).getAddr());
            sge.setLength(list.get(i).getLength());
            sge.setLkey(list.get(i).getLkey());
        }
    }

    @Override
    public void setAddr(long addr) {
        sge.set(JAVA_LONG, VerbsDescriptor.SGE_ADDR, addr);
    }

    @Override
    public long getAddr() {
        return sge.get(JAVA_LONG, VerbsDescriptor.SGE_ADDR);
    }

    @Override
    public void setLength(int length) {
        sge.set(JAVA_INT, VerbsDescriptor.SGE_LENGTH, length);
    }

    @Override
    public int getLength() {
        return sge.get(JAVA_INT, VerbsDescriptor.SGE_LENGTH);
    }

    @Override
    public void setLkey(int lkey) {
        sge.set(JAVA_INT, VerbsDescriptor.SGE_LKEY, lkey);
    }

    @Override
    public int getLkey() {
        return sge.get(JAVA_INT, VerbsDescriptor.SGE_LKEY);
    }
}
