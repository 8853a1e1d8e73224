package io.verbena.spi;

import java.nio.channels.SelectionKey;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * A selector's selected-key set: the program removes from it, only the selector adds. An array, with each key knowing
 * its place in it, so that selecting allocates nothing.
 *
 * <p>Not thread-safe, as the javadoc of Selector says; a selection operation holds its monitor.
 */
final class SelectedKeySet extends AbstractSet<SelectionKey> {
    private RdmaKey[] keys = new RdmaKey[16];
    private int size;
    private int modCount;

    /** Adds a key; the selector's alone. */
    void select(RdmaKey key) {
        assert Thread.holdsLock(this) && key.selectedIndex < 0;
        if (size == keys.length) {
            keys = Arrays.copyOf(keys, size * 2);
        }
        keys[size] = key;
        key.selectedIndex = size++;
        modCount++;
    }

    @Override
    public boolean contains(Object o) {
        return o instanceof RdmaKey key
                && key.selectedIndex >= 0
                && key.selectedIndex < size
                && keys[key.selectedIndex] == key;
    }

    @Override
    public boolean remove(Object o) {
        if (!contains(o)) {
            return false;
        }
        RdmaKey key = (RdmaKey) o;
        RdmaKey last = keys[--size];
        keys[size] = null;
        if (last != key) {
            keys[key.selectedIndex] = last;
            last.selectedIndex = key.selectedIndex;
        }
        key.selectedIndex = -1;
        modCount++;
        return true;
    }

    @Override
    public void clear() {
        for (int i = 0; i < size; i++) {
            keys[i].selectedIndex = -1;
            keys[i] = null;
        }
        size = 0;
        modCount++;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public Iterator<SelectionKey> iterator() {
        return new KeyIterator();
    }

    private final class KeyIterator implements Iterator<SelectionKey> {
        private int next;
        private boolean removable;
        private int expected = modCount;

        private void checkModification() {
            if (expected != modCount) {
                throw new ConcurrentModificationException();
            }
        }

        @Override
        public boolean hasNext() {
            return next < size;
        }

        @Override
        public SelectionKey next() {
            checkModification();
            if (next >= size) {
                throw new NoSuchElementException();
            }
            removable = true;
            return keys[next++];
        }

        /** The last key takes the removed one's place, so that it comes next. */
        @Override
        public void remove() {
            if (!removable) {
                throw new IllegalStateException();
            }
            checkModification();
            SelectedKeySet.this.remove(keys[--next]);
            removable = false;
            expected = modCount;
        }
    }
}
