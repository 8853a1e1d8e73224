package io.verbena.rdma.sys;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * One method per system call (section 2 of the manual), by its C name where Java allows.
 *
 * <p>Each returns what the call returns, or the negative errno if it failed; none throws, blocks longer than the call
 * itself, or retries on EINTR. All are thread-safe. File descriptors are plain ints: who opened one closes it.
 */
public final class Linux {
    public static final int AF_UNIX = 1;
    public static final int AF_INET = 2;
    public static final int AF_INET6 = 10;
    public static final int AF_NETLINK = 16;
    public static final int SOCK_STREAM = 1;
    public static final int SOCK_DGRAM = 2;
    public static final int SOCK_RAW = 3;
    public static final int SOCK_SEQPACKET = 5;
    public static final int SOCK_CLOEXEC = 0x80000;
    public static final int SOCK_NONBLOCK = 0x800;
    public static final int SOL_SOCKET = 1;
    public static final int SO_ERROR = 4;
    public static final int SO_PEERCRED = 17;
    public static final int SCM_RIGHTS = 1;
    public static final int MSG_PEEK = 2;
    public static final int MSG_DONTWAIT = 0x40;
    public static final int MSG_NOSIGNAL = 0x4000;
    public static final int MSG_CMSG_CLOEXEC = 0x40000000;
    public static final int MSG_TRUNC = 0x20;
    public static final int MSG_CTRUNC = 8;
    public static final int SHUT_RD = 0;
    public static final int SHUT_WR = 1;
    public static final int SHUT_RDWR = 2;
    public static final int F_ADD_SEALS = 1033;
    public static final int F_GET_SEALS = 1034;
    public static final int F_SEAL_SEAL = 1;
    public static final int F_SEAL_SHRINK = 2;
    public static final int F_SEAL_GROW = 4;
    public static final int MFD_CLOEXEC = 1;
    public static final int MFD_ALLOW_SEALING = 2;
    public static final int PROT_READ = 1;
    public static final int PROT_WRITE = 2;
    public static final int MAP_SHARED = 1;
    /** Frees the pages of a shared mapping of tmpfs: a hole in the file (madvise(2)). */
    public static final int MADV_REMOVE = 9;

    public static final int EPOLLIN = 1;
    public static final int EPOLLOUT = 4;
    public static final int EPOLLERR = 8;
    public static final int EPOLLHUP = 0x10;
    public static final int EPOLLRDHUP = 0x2000;
    public static final int EPOLLONESHOT = 1 << 30;
    public static final int EPOLLET = 1 << 31;
    public static final int EPOLL_CTL_ADD = 1;
    public static final int EPOLL_CTL_DEL = 2;
    public static final int EPOLL_CTL_MOD = 3;
    public static final int POLLIN = 1;
    public static final int POLLOUT = 4;
    public static final int POLLERR = 8;
    public static final int POLLHUP = 0x10;
    public static final int POLLNVAL = 0x20;
    public static final int POLLRDHUP = 0x2000;
    public static final int O_CLOEXEC = 0x80000;
    public static final int SEEK_END = 2;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            STATE.varHandle(java.lang.foreign.MemoryLayout.PathElement.groupElement("errno"));

    /** One capture segment per thread: errno is the calling thread's. */
    private static final ThreadLocal<MemorySegment> CAPTURE =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(STATE));

    private static final MethodHandle SOCKET = ints("socket", 3);
    private static final MethodHandle LISTEN = ints("listen", 2);
    private static final MethodHandle CLOSE = ints("close", 1);
    private static final MethodHandle SHUTDOWN = ints("shutdown", 2);
    private static final MethodHandle EVENTFD = ints("eventfd", 2);
    private static final MethodHandle EPOLL_CREATE1 = ints("epoll_create1", 1);
    private static final MethodHandle DUP3 = ints("dup3", 3);
    private static final MethodHandle GETUID = ints("getuid", 0);
    private static final MethodHandle SCHED_GETCPU = ints("sched_getcpu", 0);
    private static final MethodHandle SCHED_GETAFFINITY =
            of("sched_getaffinity", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS));
    private static final MethodHandle SCHED_SETAFFINITY =
            of("sched_setaffinity", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS));
    private static final MethodHandle BIND = of("bind", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle CONNECT =
            of("connect", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle ACCEPT4 =
            of("accept4", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
    private static final MethodHandle GETSOCKNAME =
            of("getsockname", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle GETSOCKOPT =
            of("getsockopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle SETSOCKOPT =
            of("setsockopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle SEND =
            of("send", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final MethodHandle LEAN_SEND =
            lean("send", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final MethodHandle RECV =
            of("recv", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final MethodHandle LEAN_RECV =
            lean("recv", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final MethodHandle SENDMSG =
            of("sendmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle RECVMSG =
            of("recvmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle READ = of("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle LEAN_READ =
            lean("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle WRITE =
            of("write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle LEAN_WRITE =
            lean("write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle MEMFD_CREATE =
            of("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle FTRUNCATE = of("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle FSTATFS = of("fstatfs", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle LSEEK =
            of("lseek", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle FCNTL = of(
            "fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle MMAP =
            of("mmap", FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MUNMAP = of("munmap", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle MADVISE =
            of("madvise", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final MethodHandle EPOLL_CTL =
            of("epoll_ctl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle EPOLL_WAIT =
            of("epoll_wait", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT));
    private static final MethodHandle LEAN_EPOLL_WAIT =
            lean("epoll_wait", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT));
    private static final MethodHandle PPOLL =
            of("ppoll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));
    private static final MethodHandle LEAN_PPOLL =
            lean("ppoll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));

    private Linux() {}

    private static MethodHandle ints(String name, int args) {
        var layouts = new java.lang.foreign.MemoryLayout[args];
        java.util.Arrays.fill(layouts, JAVA_INT);
        return of(name, FunctionDescriptor.of(JAVA_INT, layouts));
    }

    private static MethodHandle of(String name, FunctionDescriptor type, Linker.Option... options) {
        var all = java.util.Arrays.copyOf(options, options.length + 1);
        all[options.length] = Linker.Option.captureCallState("errno");
        return LINKER.downcallHandle(symbol(name), type, all);
    }

    /**
     * A handle that does not capture errno, and so never allocates: capturing slices the capture segment, which is
     * garbage wherever the JIT compiler does not see through it. For calls on the path of messages; one that fails has
     * had no effect, and is made again with {@link #of} to learn why.
     */
    private static MethodHandle lean(String name, FunctionDescriptor type) {
        return LINKER.downcallHandle(symbol(name), type);
    }

    private static MemorySegment symbol(String name) {
        return LINKER.defaultLookup()
                .find(name)
                .orElseThrow(() -> new UnsatisfiedLinkError("the C library has no " + name));
    }

    private static int result(int value, MemorySegment capture) {
        return value == -1 ? -(int) ERRNO.get(capture, 0L) : value;
    }

    private static long result(long value, MemorySegment capture) {
        return value == -1 ? -(int) ERRNO.get(capture, 0L) : value;
    }

    private static AssertionError unexpected(Throwable t) {
        return new AssertionError("a downcall threw", t);
    }

    // The methods below differ in name and signature only: see each page in section 2 of the manual.

    /** socket(2): a new descriptor. */
    public static int socket(int domain, int type, int protocol) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) SOCKET.invokeExact(c, domain, type, protocol), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** listen(2). */
    public static int listen(int fd, int backlog) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) LISTEN.invokeExact(c, fd, backlog), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** close(2): the descriptor is gone whatever is returned. */
    public static int close(int fd) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) CLOSE.invokeExact(c, fd), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** shutdown(2). */
    public static int shutdown(int fd, int how) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) SHUTDOWN.invokeExact(c, fd, how), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** eventfd(2): a new descriptor. */
    public static int eventfd(int initval, int flags) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) EVENTFD.invokeExact(c, initval, flags), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** epoll_create1(2): a new descriptor. */
    public static int epollCreate(int flags) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) EPOLL_CREATE1.invokeExact(c, flags), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** dup3(2). */
    public static int dup3(int oldFd, int newFd, int flags) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) DUP3.invokeExact(c, oldFd, newFd, flags), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** getuid(2): the real user id. */
    public static int getuid() {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) GETUID.invokeExact(c), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** bind(2). */
    public static int bind(int fd, MemorySegment addr, int addrLen) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) BIND.invokeExact(c, fd, addr, addrLen), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** connect(2). */
    public static int connect(int fd, MemorySegment addr, int addrLen) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) CONNECT.invokeExact(c, fd, addr, addrLen), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** accept4(2): a new descriptor; the addresses may be NULL. */
    public static int accept4(int fd, MemorySegment addr, MemorySegment addrLen, int flags) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) ACCEPT4.invokeExact(c, fd, addr, addrLen, flags), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** getsockname(2). */
    public static int getsockname(int fd, MemorySegment addr, MemorySegment addrLen) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) GETSOCKNAME.invokeExact(c, fd, addr, addrLen), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** getsockopt(2). */
    public static int getsockopt(int fd, int level, int name, MemorySegment value, MemorySegment valueLen) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) GETSOCKOPT.invokeExact(c, fd, level, name, value, valueLen), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** setsockopt(2). */
    public static int setsockopt(int fd, int level, int name, MemorySegment value, int valueLen) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) SETSOCKOPT.invokeExact(c, fd, level, name, value, valueLen), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** send(2): bytes sent. */
    public static long send(int fd, MemorySegment buf, long len, int flags) {
        try {
            long lean = (long) LEAN_SEND.invokeExact(fd, buf, len, flags);
            if (lean != -1) {
                return lean;
            }
            MemorySegment c = CAPTURE.get();
            return result((long) SEND.invokeExact(c, fd, buf, len, flags), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** recv(2): bytes received, 0 at the end. */
    public static long recv(int fd, MemorySegment buf, long len, int flags) {
        try {
            long lean = (long) LEAN_RECV.invokeExact(fd, buf, len, flags);
            if (lean != -1) {
                return lean;
            }
            MemorySegment c = CAPTURE.get();
            return result((long) RECV.invokeExact(c, fd, buf, len, flags), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** sendmsg(2): bytes sent. */
    public static long sendmsg(int fd, MemorySegment msg, int flags) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((long) SENDMSG.invokeExact(c, fd, msg, flags), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** recvmsg(2): bytes received, 0 at the end. */
    public static long recvmsg(int fd, MemorySegment msg, int flags) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((long) RECVMSG.invokeExact(c, fd, msg, flags), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** read(2): bytes read. */
    public static long read(int fd, MemorySegment buf, long len) {
        try {
            long lean = (long) LEAN_READ.invokeExact(fd, buf, len);
            if (lean != -1) {
                return lean;
            }
            MemorySegment c = CAPTURE.get();
            return result((long) READ.invokeExact(c, fd, buf, len), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** write(2): bytes written. */
    public static long write(int fd, MemorySegment buf, long len) {
        try {
            long lean = (long) LEAN_WRITE.invokeExact(fd, buf, len);
            if (lean != -1) {
                return lean;
            }
            MemorySegment c = CAPTURE.get();
            return result((long) WRITE.invokeExact(c, fd, buf, len), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** memfd_create(2): a new descriptor. */
    public static int memfdCreate(MemorySegment name, int flags) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) MEMFD_CREATE.invokeExact(c, name, flags), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** ftruncate(2). */
    public static int ftruncate(int fd, long length) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) FTRUNCATE.invokeExact(c, fd, length), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** lseek(2): the new offset; with SEEK_END the size of a memfd. */
    public static long lseek(int fd, long offset, int whence) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((long) LSEEK.invokeExact(c, fd, offset, whence), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** fstatfs(2): {@code f_type}, a long, is first in the struct. */
    public static int fstatfs(int fd, MemorySegment buf) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) FSTATFS.invokeExact(c, fd, buf), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** fcntl(2) with an int argument. */
    public static int fcntl(int fd, int cmd, int arg) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) FCNTL.invokeExact(c, fd, cmd, arg), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** mmap(2): the address of the mapping. */
    public static long mmap(MemorySegment addr, long length, int prot, int flags, int fd, long offset) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((long) MMAP.invokeExact(c, addr, length, prot, flags, fd, offset), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** munmap(2). */
    public static int munmap(MemorySegment addr, long length) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) MUNMAP.invokeExact(c, addr, length), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** madvise(2). */
    public static int madvise(MemorySegment addr, long length, int advice) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) MADVISE.invokeExact(c, addr, length, advice), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** epoll_ctl(2); see {@link Epoll}. */
    public static int epollCtl(int epFd, int op, int fd, MemorySegment event) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) EPOLL_CTL.invokeExact(c, epFd, op, fd, event), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** epoll_wait(2): the number of events; see {@link Epoll}. */
    public static int epollWait(int epFd, MemorySegment events, int maxEvents, int timeoutMs) {
        try {
            int lean = (int) LEAN_EPOLL_WAIT.invokeExact(epFd, events, maxEvents, timeoutMs);
            if (lean != -1) {
                return lean;
            }
            MemorySegment c = CAPTURE.get();
            return result((int) EPOLL_WAIT.invokeExact(c, epFd, events, maxEvents, timeoutMs), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** ppoll(2): the number of ready descriptors; NULL timeout waits for ever. */
    public static int ppoll(MemorySegment fds, long count, MemorySegment timeout, MemorySegment sigmask) {
        try {
            int lean = (int) LEAN_PPOLL.invokeExact(fds, count, timeout, sigmask);
            if (lean != -1) {
                return lean;
            }
            MemorySegment c = CAPTURE.get();
            return result((int) PPOLL.invokeExact(c, fds, count, timeout, sigmask), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** sched_getcpu(3): the processor that the calling thread runs on. */
    public static int schedGetcpu() {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) SCHED_GETCPU.invokeExact(c), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** sched_getaffinity(2); 0 is the calling thread. */
    public static int schedGetaffinity(int tid, long maskBytes, MemorySegment mask) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) SCHED_GETAFFINITY.invokeExact(c, tid, maskBytes, mask), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** sched_setaffinity(2); 0 is the calling thread. */
    public static int schedSetaffinity(int tid, long maskBytes, MemorySegment mask) {
        MemorySegment c = CAPTURE.get();
        try {
            return result((int) SCHED_SETAFFINITY.invokeExact(c, tid, maskBytes, mask), c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }
}
