package io.verbena.rdma.backend.soft;

import io.verbena.rdma.sys.Errno;
import io.verbena.rdma.sys.Linux;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A memfd mapped into this process: one of ours, or one that the peer process sent. Its size is sealed, so no access to
 * the mapping can fail, whatever the other process does. Thread-safe.
 */
final class Segment {
    /** Bytes of an ordinary segment; pages are allocated by the kernel when first touched. */
    static final long BYTES = 64L << 20;
    /** Bytes of the largest segment. */
    static final long MAX_BYTES = 1L << 30;

    static final long PAGE_BYTES = 4096;

    private static final int SEALS = Linux.F_SEAL_SEAL | Linux.F_SEAL_SHRINK | Linux.F_SEAL_GROW;
    private static final long TMPFS_MAGIC = 0x01021994;
    private static final int STATFS_BYTES = 256;
    /** Arenas that could not be closed because a system call was using them; tried again with the next. */
    private static final ConcurrentLinkedQueue<Arena> BUSY = new ConcurrentLinkedQueue<>();

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final MemorySegment NAME = Arena.global().allocateFrom("verbena");

    /** Random, so that a name is never used for two segments. */
    final long id;

    final long bytes;
    /** The mapping; use after {@link #close} throws IllegalStateException. */
    final MemorySegment memory;
    /** The descriptor of a segment of ours, to be sent to the peer; -1 for the peer's. */
    final int fd;

    private final Arena arena;

    private Segment(long id, int fd, long bytes, int mapFd) throws IOException {
        this.id = id;
        this.fd = fd;
        this.bytes = bytes;
        long address =
                Linux.mmap(MemorySegment.NULL, bytes, Linux.PROT_READ | Linux.PROT_WRITE, Linux.MAP_SHARED, mapFd, 0);
        if (address < 0 && address > -4096) {
            throw new IOException("mmap of " + bytes + " bytes failed: " + Errno.describe((int) -address));
        }
        arena = Arena.ofShared();
        memory = MemorySegment.ofAddress(address).reinterpret(bytes, arena, Segment::unmap);
    }

    private static void unmap(MemorySegment mapping) {
        int unused = Linux.munmap(mapping, mapping.byteSize());
    }

    /**
     * Makes a segment of our own.
     *
     * @throws IOException if a descriptor or address space can't be had
     */
    static Segment create(long bytes) throws IOException {
        int fd = Errno.check(Linux.memfdCreate(NAME, Linux.MFD_CLOEXEC | Linux.MFD_ALLOW_SEALING), "memfd_create");
        try {
            int unused = Errno.check(Linux.ftruncate(fd, bytes), "ftruncate(memfd, " + bytes + ")");
            unused = Errno.check(Linux.fcntl(fd, Linux.F_ADD_SEALS, SEALS), "fcntl(F_ADD_SEALS)");
            return new Segment(RANDOM.nextLong(), fd, bytes, fd);
        } catch (IOException e) {
            int unused = Linux.close(fd);
            throw e;
        }
    }

    /**
     * Maps a segment of the peer's.
     *
     * @param fd its memfd; stays open, the caller closes it
     * @param bytes its size as the peer announced it
     * @throws IOException if it is not a sealed memfd of that size
     */
    static Segment map(long id, int fd, long bytes) throws IOException {
        if (bytes < PAGE_BYTES || bytes > MAX_BYTES || bytes % PAGE_BYTES != 0) {
            throw new IOException("the peer's memory has " + bytes + " bytes");
        }
        int seals = Errno.check(Linux.fcntl(fd, Linux.F_GET_SEALS, 0), "fcntl(F_GET_SEALS)");
        if ((seals & SEALS) != SEALS) {
            throw new IOException("the peer's memory is not sealed: seals=" + seals);
        }
        requireTmpfs(fd);
        long size = Linux.lseek(fd, 0, Linux.SEEK_END);
        if (size != bytes) {
            throw new IOException("the peer's memory has " + size + " bytes, not " + bytes);
        }
        return new Segment(id, -1, bytes, fd);
    }

    /** Huge pages have seals too, but run out with a SIGBUS. */
    private static void requireTmpfs(int fd) throws IOException {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment statfs = scratch.allocate(STATFS_BYTES, 8);
            int unused = Errno.check(Linux.fstatfs(fd, statfs), "fstatfs");
            long type = statfs.get(ValueLayout.JAVA_LONG, 0);
            if (type != TMPFS_MAGIC) {
                throw new IOException(
                        "the peer's memory is of file system 0x" + Long.toHexString(type) + ", not of tmpfs");
            }
        }
    }

    /** Gives the pages of a range back to the kernel; they read as zero afterwards. */
    void punch(long offset, long length) {
        MemorySegment range = MemorySegment.ofAddress(memory.address() + offset);
        int result = Linux.madvise(range, length, Linux.MADV_REMOVE);
        if (result < 0) {
            memory.asSlice(offset, length).fill((byte) 0);
        }
    }

    /** Unmaps, after which any use of {@link #memory} throws. */
    void close() {
        if (fd >= 0) {
            punch(0, bytes); // the peer may keep it mapped for a while
            int unused = Linux.close(fd);
        }
        closeOrKeep(arena);
        for (int i = BUSY.size(); i > 0; i--) {
            Arena busy = BUSY.poll();
            if (busy != null) {
                closeOrKeep(busy);
            }
        }
    }

    private static void closeOrKeep(Arena mapping) {
        try {
            mapping.close();
        } catch (IllegalStateException e) {
            boolean added = BUSY.add(mapping);
            assert added;
        }
    }
}
