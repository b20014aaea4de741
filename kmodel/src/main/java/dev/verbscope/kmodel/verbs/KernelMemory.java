package dev.verbscope.kmodel.verbs;

import dev.verbscope.kmodel.sim.DeterministicRandom;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Memory of the modelled kernel. Addresses look like x86-64 kernel addresses and follow from the seed. Memory of
 * {@link #alloc} is addresses only, for structures and buffers whose bytes nobody looks at; memory of {@link #kmalloc}
 * has bytes. What is freed is given out again first, as SLUB does, so that a stale pointer meets another owner.
 */
public final class KernelMemory {
    private static final int PAGE = 4096;
    private static final int LINE = 64;

    private final long directMap;
    private final long stackPage;
    private long nextFree;
    private final TreeMap<Long, KernelBuffer> buffers = new TreeMap<>();
    private final Map<Integer, ArrayDeque<Long>> freeBySize = new HashMap<>();
    private VerbsObserver observer = new VerbsObserver() {};

    /** Takes the bases from random numbers, as KASLR does. */
    public KernelMemory(DeterministicRandom random) {
        directMap = 0xffff888000000000L + (random.between(0, 0x3fff) << 30);
        nextFree = directMap + (random.between(0x100, 0x7fff) << 12 << 4);
        stackPage = 0xffffc90000000000L + (random.between(0x100, 0xfffff) << 12);
    }

    void fault(MemoryFault what, long address, int bytes) {
        observer.memoryFault(what, address, bytes);
    }

    /** Faults are told to this observer from now on. */
    void tell(VerbsObserver to) {
        observer = to;
    }

    /**
     * kmalloc: the kernel's virtual address of a new piece of memory.
     *
     * @param bytes size, above 0
     * @param align alignment, a power of two
     */
    public long alloc(long bytes, int align) {
        long at = (nextFree + align - 1) & -(long) align;
        nextFree = at + bytes;
        return at;
    }

    /** kmalloc of whole pages. */
    public long allocPages(long bytes) {
        return alloc((bytes + PAGE - 1) / PAGE * PAGE, PAGE);
    }

    /**
     * kmalloc of memory with bytes, zeroed. Pieces of a page and more begin on a page.
     *
     * @param size bytes, above 0
     */
    public KernelBuffer kmalloc(int size) {
        ArrayDeque<Long> free = freeBySize.get(size);
        Long again = free == null ? null : free.pollLast();
        long at = again != null ? again : alloc(size, size >= PAGE ? PAGE : LINE);
        KernelBuffer buffer = new KernelBuffer(this, at, size);
        buffers.put(at, buffer);
        return buffer;
    }

    /** kfree: the bytes are poisoned and the memory may be given out again. */
    public void kfree(KernelBuffer buffer) {
        if (buffer.freed()) {
            observer.memoryFault(MemoryFault.DOUBLE_FREE, buffer.address, buffer.size());
            return;
        }
        if (buffer.mappings > 0) {
            observer.memoryFault(MemoryFault.FREED_WHILE_MAPPED, buffer.address, buffer.size());
        }
        buffer.free();
        freeBySize.computeIfAbsent(buffer.size(), k -> new ArrayDeque<>()).addLast(buffer.address);
    }

    /** The memory with bytes at a virtual address, freed or not; null if there is none. */
    public @Nullable KernelBuffer at(long virtual) {
        Map.Entry<Long, KernelBuffer> e = buffers.floorEntry(virtual);
        if (e == null || virtual - e.getKey() >= e.getValue().size()) {
            return null;
        }
        return e.getValue();
    }

    /** The address the device uses for memory of the direct map: without an IOMMU the physical one. */
    public long dmaAddress(long virtual) {
        return virtual - directMap;
    }

    /** The virtual address of memory by its physical one. */
    public long virtualAddress(long physical) {
        return physical + directMap;
    }

    /** An address on a kernel stack. */
    public long onStack(int offset) {
        return stackPage + offset;
    }
}
