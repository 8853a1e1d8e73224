package io.verbena.rdma.backend.soft;

import io.verbena.rdma.backend.soft.SegmentPool.Block;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ThreadLocalRandom;

/** The keys that one connection gives to its peer, written into our block once there is one. Thread-safe. */
final class KeyTable {
    private final Entry[] entries = new Entry[BlockDescriptor.KEY_COUNT];
    private MemorySegment block;

    private record Entry(int rkey, int access, Block memory, long bytes) {}

    /** Publishes the table in our block from now on; null: no more. */
    synchronized void setBlock(MemorySegment newBlock) {
        block = newBlock;
        for (int i = 0; i < entries.length; i++) {
            publish(i);
        }
    }

    /**
     * Makes a key.
     *
     * @param access IBV_ACCESS_ flags
     * @return the rkey; its low bits are the table's index
     */
    synchronized int add(Block memory, long bytes, int access) throws IOException {
        for (int i = 0; i < entries.length; i++) {
            if (entries[i] == null) {
                int rkey = (ThreadLocalRandom.current().nextInt() | entries.length) & -entries.length | i;
                entries[i] = new Entry(rkey, access, memory, bytes);
                publish(i);
                return rkey;
            }
        }
        throw new IOException("a connection can have " + entries.length + " regions for its peer; deregister one");
    }

    /** Revokes a key: requests that the peer begins afterwards fail. */
    synchronized void remove(int rkey) {
        int i = rkey & entries.length - 1;
        if (entries[i] != null && entries[i].rkey() == rkey) {
            entries[i] = null;
            publish(i);
        }
    }

    private void publish(int i) {
        if (block == null) {
            return;
        }
        long at = BlockDescriptor.KEYS + i * BlockDescriptor.KEY_BYTES;
        Entry entry = entries[i];
        if (entry == null) {
            Shared.setOpaque(block, at + BlockDescriptor.KEY_RKEY_ACCESS, 0);
            return;
        }
        Segment segment = entry.memory().segment();
        Shared.setOpaque(block, at + BlockDescriptor.KEY_ADDRESS, address(entry.memory()));
        Shared.setOpaque(block, at + BlockDescriptor.KEY_LENGTH, entry.bytes());
        Shared.setOpaque(block, at + BlockDescriptor.KEY_SEGMENT, segment.id);
        Shared.setOpaque(block, at + BlockDescriptor.KEY_OFFSET, entry.memory().offset());
        // Pairs with the acquire in PeerMemory.resolve; publishes the words above.
        Shared.setRelease(
                block,
                at + BlockDescriptor.KEY_RKEY_ACCESS,
                Integer.toUnsignedLong(entry.rkey()) | (long) entry.access() << 32);
    }

    /** The address by which both sides name the memory: ours. */
    static long address(Block memory) {
        return memory.segment().memory.address() + memory.offset();
    }
}
