package io.verbena.rdma.backend.soft;

import io.verbena.rdma.backend.soft.UnixSocket.Credentials;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What this process shares with one peer process in one role (connecting or listening): our pool, and the peer's
 * segments that we have mapped.
 *
 * <p>The connecting process invents a secret 128-bit id per peer process and sends it with each request; the listening
 * process keeps connections together that show the same id from the same process. Neither can name another process's
 * pair.
 *
 * <p>A pair without connections is kept for the next one, since making and unmapping segments is what connecting costs
 * most; at most {@link #MAX_IDLE} are, the longest idle go first. Thread-safe.
 */
final class Pair {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Object TABLE_LOCK = new Object();
    /** Guarded by TABLE_LOCK. */
    private static final Map<Key, Pair> TABLE = new HashMap<>();

    /** Pairs kept without a connection: each is a descriptor and two mappings of mostly untouched pages. */
    private static final int MAX_IDLE = 4;

    /** Longest idle first; guarded by TABLE_LOCK. */
    private static final ArrayDeque<Pair> IDLE = new ArrayDeque<>();

    /** Who the peer is: a connecting process is known by its id too, a listening one (id 0) by its process only. */
    private record Key(boolean connecting, long idHigh, long idLow, int pid, int uid) {}

    private final Key key;
    final long idHigh;
    final long idLow;
    final SegmentPool pool = new SegmentPool();

    /** Guarded by this. */
    private final Map<Long, Mapping> peerSegments = new HashMap<>();

    /** Guarded by TABLE_LOCK. */
    private int connections;

    private static final class Mapping {
        final Segment segment;
        int users;

        Mapping(Segment segment) {
            this.segment = segment;
        }
    }

    private Pair(Key key, long idHigh, long idLow) {
        this.key = key;
        this.idHigh = idHigh;
        this.idLow = idLow;
    }

    /** The pair with a listening process, for one more connection: {@link #release} it. */
    static Pair withListener(Credentials peer) {
        // A process in another pid namespace shows as pid 0: nothing to tell several of them apart.
        Key key = peer.pid() == 0
                ? new Key(true, RANDOM.nextLong(), RANDOM.nextLong(), 0, peer.uid())
                : new Key(true, 0, 0, peer.pid(), peer.uid());
        return acquire(key, RANDOM.nextLong(), RANDOM.nextLong());
    }

    /** The pair with a connecting process that showed this id, for one more connection: {@link #release} it. */
    static Pair withClient(Credentials peer, long idHigh, long idLow) {
        return acquire(new Key(false, idHigh, idLow, peer.pid(), peer.uid()), idHigh, idLow);
    }

    private static Pair acquire(Key key, long idHigh, long idLow) {
        synchronized (TABLE_LOCK) {
            Pair pair = TABLE.computeIfAbsent(key, k -> new Pair(k, idHigh, idLow));
            if (pair.connections++ == 0) {
                boolean unused = IDLE.remove(pair);
            }
            return pair;
        }
    }

    /** Ends one connection's use; the last one leaves the pair idle. */
    void release() {
        Pair evicted;
        synchronized (TABLE_LOCK) {
            if (--connections > 0) {
                return;
            }
            IDLE.add(this);
            if (IDLE.size() <= MAX_IDLE) {
                return;
            }
            evicted = IDLE.remove();
            Pair removed = TABLE.remove(evicted.key);
            assert removed == evicted;
        }
        evicted.close();
    }

    private synchronized void close() {
        pool.close();
        for (Mapping mapping : peerSegments.values()) {
            assert mapping.users == 0;
            mapping.segment.close();
        }
        peerSegments.clear();
    }

    /**
     * Maps a segment of the peer's, or finds it mapped: {@link #unmapPeer} it.
     *
     * @param fd the descriptor that came with the announcement; the caller closes it
     */
    synchronized Segment mapPeer(long id, int fd, long bytes) throws IOException {
        Mapping mapping = peerSegments.get(id);
        if (mapping == null) {
            mapping = new Mapping(Segment.map(id, fd, bytes));
            Mapping unused = peerSegments.put(id, mapping);
        }
        if (mapping.segment.bytes != bytes) {
            throw new IOException("the peer announces " + bytes + " bytes for a segment of " + mapping.segment.bytes);
        }
        mapping.users++;
        return mapping.segment;
    }

    /** Ends one use of a mapped segment. The one used last is kept mapped: the peer may well have given up the others. */
    synchronized void unmapPeer(Segment segment) {
        Mapping mapping = peerSegments.get(segment.id);
        if (--mapping.users == 0) {
            for (Mapping other : List.copyOf(peerSegments.values())) {
                if (other.users == 0 && other != mapping) {
                    Mapping unused = peerSegments.remove(other.segment.id);
                    other.segment.close();
                }
            }
        }
    }
}
