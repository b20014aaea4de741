package dev.verbscope.kmodel.verbs;

/** What goes wrong with memory in a modelled kernel, and what it comes to on hardware. */
public enum MemoryFault {
    /** The device writes through a mapping that is gone, with no IOMMU: the bytes land in whatever is there now. */
    WRITE_UNMAPPED,
    /** The device reads through a mapping that is gone, with no IOMMU: whatever is there now goes out. */
    READ_UNMAPPED,
    /** The device writes memory that was freed: silent, until the allocator or the next owner finds it changed. */
    WRITE_AFTER_FREE,
    /** The device reads memory that was freed. */
    READ_AFTER_FREE,
    /** The IOMMU has no such mapping, or not in that direction: it blocks the access and the device reports an error. */
    IOMMU_FAULT,
    /** The CPU reads memory that was freed. */
    CPU_USE_AFTER_FREE,
    /** The CPU touches a buffer that belongs to the device: it may see old bytes, or its own may be lost. */
    CPU_TOUCHES_DEVICE_BUFFER,
    /** Memory is freed while it is mapped for a device. */
    FREED_WHILE_MAPPED,
    /** Memory is freed twice. */
    DOUBLE_FREE,
    /** An unmap or a sync of an address that is not mapped. */
    DMA_NOT_MAPPED,
    /** An unmap with another size, direction or function than the mapping's. */
    DMA_MISMATCH,
    /** A mapping whose address was used without asking ib_dma_mapping_error. */
    DMA_ERROR_UNCHECKED,
    /** An object of the core is used after it was freed: a PD that was taken away under its users. */
    OBJECT_USE_AFTER_FREE
}
