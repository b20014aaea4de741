package dev.verbscope.kmodel.verbs;

import dev.verbscope.kmodel.sim.DeterministicRandom;

/** Addresses of the modelled kernel: they look like x86-64 kernel addresses and follow from the seed. */
public final class KernelMemory {
    private static final int PAGE = 4096;

    private final long directMap;
    private final long stackPage;
    private long nextFree;

    /** Takes the bases from random numbers, as KASLR does. */
    public KernelMemory(DeterministicRandom random) {
        directMap = 0xffff888000000000L + (random.between(0, 0x3fff) << 30);
        nextFree = directMap + (random.between(0x100, 0x7fff) << 12 << 4);
        stackPage = 0xffffc90000000000L + (random.between(0x100, 0xfffff) << 12);
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

    /** The address the device uses for memory of the direct map: without an IOMMU the physical one. */
    public long dmaAddress(long virtual) {
        return virtual - directMap;
    }

    /** An address on a kernel stack. */
    public long onStack(int offset) {
        return stackPage + offset;
    }
}
