package dev.verbscope.kmodel.verbs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What one device sees of memory: the DMA mappings, and what becomes of an access that none covers. Only memory with
 * bytes ({@link KernelMemory#kmalloc}) has anything to read or write; an address of other memory passes untouched.
 */
public final class DmaSpace {
    /** How addresses of the device lead to memory. */
    public enum Kind {
        /** No IOMMU: the DMA address is the physical one, and a mapping that is gone stops nothing. */
        DIRECT,
        /** An IOMMU: addresses are handed out, and an access outside of a mapping or against its direction faults. */
        IOMMU,
        /** A software device (rxe, siw from 5.11): the address is the virtual one and the CPU copies. */
        VIRTUAL
    }

    /** What a failed mapping gives: {@code DMA_MAPPING_ERROR}. */
    public static final long MAPPING_ERROR = -1L;

    private static final long FIRST_IOVA = 0xfff00000L;
    private static final int PAGE = 4096;
    private static final int NEIGHBOURS = 64;

    /** A piece of memory handed to the device. */
    private static final class Mapping {
        final KernelBuffer buffer;
        final int offset;
        final int size;
        final DmaDirection direction;
        final DmaFunction by;
        final byte @Nullable [] bounce;
        boolean checked;
        boolean deviceOwns = true;

        Mapping(
                KernelBuffer buffer,
                int offset,
                int size,
                DmaDirection direction,
                DmaFunction by,
                byte @Nullable [] bounce) {
            this.buffer = buffer;
            this.offset = offset;
            this.size = size;
            this.direction = direction;
            this.by = by;
            this.bounce = bounce;
        }
    }

    /** Which function made a mapping. */
    enum DmaFunction {
        SINGLE,
        PAGE,
        SG,
        COHERENT
    }

    private final KernelMemory memory;
    private final VerbsObserver observer;
    private final Kind kind;
    private final boolean coherent;
    private final TreeMap<Long, Deque<Mapping>> mappings = new TreeMap<>();
    private final List<Integer> failNext = new ArrayList<>();
    private long nextIova = FIRST_IOVA;
    private int live;
    private int failEvery;
    private long mapped;

    /**
     * @param coherent whether the CPU sees what the device wrote at once; if not, bytes move at map, sync and unmap only
     */
    public DmaSpace(Kernel kernel, Kind kind, boolean coherent) {
        this.memory = kernel.memory();
        this.observer = kernel.observer();
        this.kind = kind;
        this.coherent = coherent;
        memory.tell(observer);
    }

    /** How addresses lead to memory. */
    public Kind kind() {
        return kind;
    }

    /** Mappings that were not taken back. */
    public int live() {
        return live;
    }

    /** Lets every so many mappings fail; 0 lets none fail. */
    public void failEvery(int n) {
        failEvery = n;
    }

    /** Lets the mapping after so many more fail, once; 0 is the next one. */
    public void failAfter(int n) {
        failNext.add(n);
    }

    private boolean fails() {
        mapped++;
        boolean now = failEvery > 0 && mapped % failEvery == 0;
        for (int i = failNext.size() - 1; i >= 0; i--) {
            int left = failNext.get(i);
            if (left == 0) {
                failNext.remove(i);
                now = true;
            } else {
                failNext.set(i, left - 1);
            }
        }
        return now;
    }

    long map(long virtual, int size, DmaDirection direction, DmaFunction by) {
        if (fails()) {
            return MAPPING_ERROR;
        }
        KernelBuffer buffer = memory.at(virtual);
        long address = switch (kind) {
            case DIRECT -> memory.dmaAddress(virtual);
            case VIRTUAL -> virtual;
            case IOMMU -> {
                // the offset in the page is kept; mappings begin on pages of their own
                nextIova -= ((size + (virtual & (PAGE - 1)) + PAGE - 1) / PAGE) * PAGE;
                yield nextIova + (virtual & (PAGE - 1));
            }
        };
        if (buffer == null) {
            return address;
        }
        int offset = (int) (virtual - buffer.address);
        if (size > buffer.size() - offset) {
            throw new KernelOops("dma_map of " + size + " bytes over the end of a buffer of " + buffer.size());
        }
        byte[] bounce = coherent || by == DmaFunction.COHERENT || kind == Kind.VIRTUAL ? null : new byte[size];
        Mapping m = new Mapping(buffer, offset, size, direction, by, bounce);
        m.checked = by == DmaFunction.SG || by == DmaFunction.COHERENT;
        if (buffer.freed()) {
            observer.memoryFault(MemoryFault.CPU_USE_AFTER_FREE, virtual, size);
        }
        live++;
        buffer.mappings++;
        if (by == DmaFunction.COHERENT) {
            m.deviceOwns = false;
        } else {
            buffer.ownedByDevice++;
        }
        if (bounce != null && direction.deviceReads()) {
            buffer.deviceRead(offset, bounce, 0, size);
        }
        mappings.computeIfAbsent(address, k -> new ArrayDeque<>()).addLast(m);
        return address;
    }

    /** Marks that the caller looked whether the mapping failed. */
    void checked(long address) {
        Deque<Mapping> at = mappings.get(address);
        if (at != null) {
            at.forEach(m -> m.checked = true);
        }
    }

    void unmap(long address, int size, DmaDirection direction, DmaFunction by) {
        Deque<Mapping> at = mappings.get(address);
        Mapping m = at == null ? null : at.pollLast();
        if (at == null || m == null) {
            if (memory.at(virtual(address)) != null || kind == Kind.IOMMU) {
                observer.memoryFault(MemoryFault.DMA_NOT_MAPPED, address, size);
            }
            return;
        }
        if (at.isEmpty()) {
            mappings.remove(address);
        }
        if (m.size != size || m.direction != direction || m.by != by) {
            observer.memoryFault(MemoryFault.DMA_MISMATCH, address, size);
        }
        if (!m.checked) {
            observer.memoryFault(MemoryFault.DMA_ERROR_UNCHECKED, address, size);
        }
        live--;
        m.buffer.mappings--;
        if (m.deviceOwns) {
            m.buffer.ownedByDevice--;
        }
        if (m.bounce != null && m.direction.deviceWrites() && m.deviceOwns) {
            m.buffer.deviceWrite(m.offset, m.bounce, 0, m.size);
        }
    }

    void sync(long address, int size, DmaDirection direction, boolean forCpu) {
        Map.Entry<Long, Mapping> e = covering(address, size);
        if (e == null) {
            observer.memoryFault(MemoryFault.DMA_NOT_MAPPED, address, size);
            return;
        }
        Mapping m = e.getValue();
        int at = (int) (address - e.getKey());
        if (m.direction != direction && m.direction != DmaDirection.BIDIRECTIONAL) {
            observer.memoryFault(MemoryFault.DMA_MISMATCH, address, size);
        }
        if (m.bounce != null) {
            if (forCpu && m.direction.deviceWrites()) {
                m.buffer.deviceWrite(m.offset + at, m.bounce, at, size);
            } else if (!forCpu) {
                m.buffer.deviceRead(m.offset + at, m.bounce, at, size);
            }
        }
        if (forCpu == m.deviceOwns) {
            m.deviceOwns = !forCpu;
            m.buffer.ownedByDevice += forCpu ? -1 : 1;
        }
    }

    private long virtual(long address) {
        return kind == Kind.VIRTUAL ? address : memory.virtualAddress(address);
    }

    /** The youngest mapping that holds these bytes. */
    private Map.@Nullable Entry<Long, Mapping> covering(long address, int size) {
        Map.Entry<Long, Deque<Mapping>> e = mappings.floorEntry(address);
        for (int tries = 0; e != null && tries < NEIGHBOURS; tries++) {
            Mapping last = e.getValue().peekLast();
            if (last != null && address - e.getKey() <= (long) last.size - size) {
                return Map.entry(e.getKey(), last);
            }
            // a longer mapping may begin further down
            e = mappings.lowerEntry(e.getKey());
        }
        return null;
    }

    /**
     * The device writes.
     *
     * @return false if the IOMMU blocked it
     */
    public boolean write(long address, byte[] from, int at, int length) {
        return access(address, from, at, length, true);
    }

    /**
     * The device reads.
     *
     * @return false if the IOMMU blocked it
     */
    public boolean read(long address, byte[] into, int at, int length) {
        return access(address, into, at, length, false);
    }

    private boolean access(long address, byte[] data, int at, int length, boolean write) {
        int done = 0;
        while (done < length) {
            long from = address + done;
            Map.Entry<Long, Mapping> e = covering(from, 1);
            if (e == null) {
                if (kind == Kind.IOMMU) {
                    observer.memoryFault(MemoryFault.IOMMU_FAULT, from, length - done);
                    return false;
                }
                unmapped(from, data, at + done, length - done, write);
                return true;
            }
            Mapping m = e.getValue();
            if (kind == Kind.IOMMU && !(write ? m.direction.deviceWrites() : m.direction.deviceReads())) {
                observer.memoryFault(MemoryFault.IOMMU_FAULT, from, length - done);
                return false;
            }
            int skip = (int) (from - e.getKey());
            int part = Math.min(length - done, m.size - skip);
            move(m, m.offset + skip, data, at + done, part, write);
            done += part;
        }
        return true;
    }

    private void move(Mapping m, int offset, byte[] data, int at, int length, boolean write) {
        KernelBuffer buffer = m.buffer;
        if (buffer.freed()) {
            observer.memoryFault(
                    write ? MemoryFault.WRITE_AFTER_FREE : MemoryFault.READ_AFTER_FREE,
                    buffer.address + offset,
                    length);
            // the memory may be another owner's by now
            KernelBuffer now = memory.at(buffer.address + offset);
            buffer = now == null ? buffer : now;
        }
        byte[] bounce = m.bounce;
        if (bounce != null) {
            if (write) {
                System.arraycopy(data, at, bounce, offset - m.offset, length);
            } else {
                System.arraycopy(bounce, offset - m.offset, data, at, length);
            }
        } else if (write) {
            buffer.deviceWrite(offset, data, at, length);
        } else {
            buffer.deviceRead(offset, data, at, length);
        }
    }

    private void unmapped(long address, byte[] data, int at, int length, boolean write) {
        long virtual = virtual(address);
        KernelBuffer buffer = memory.at(virtual);
        if (buffer == null) {
            return;
        }
        int offset = (int) (virtual - buffer.address);
        int fits = Math.min(length, buffer.size() - offset);
        if (buffer.freed()) {
            observer.memoryFault(write ? MemoryFault.WRITE_AFTER_FREE : MemoryFault.READ_AFTER_FREE, virtual, length);
        } else if (kind != Kind.VIRTUAL) {
            observer.memoryFault(write ? MemoryFault.WRITE_UNMAPPED : MemoryFault.READ_UNMAPPED, virtual, length);
        }
        if (write) {
            buffer.deviceWrite(offset, data, at, fits);
        } else {
            buffer.deviceRead(offset, data, at, fits);
        }
    }
}
