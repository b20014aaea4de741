package dev.verbscope.kmodel.verbs;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The {@code ib_dma_*} functions. A buffer belongs to the device from its mapping to the unmap or to a sync for the CPU;
 * the rules that a debug kernel checks (CONFIG_DMA_API_DEBUG) are told to {@link VerbsObserver#memoryFault}.
 */
public final class Dma {
    /**
     * An entry of a scatterlist.
     */
    public static final class Scatter {
        /** The memory. */
        public final KernelBuffer buffer;
        /** First byte of it. */
        public final int offset;
        /** Bytes. */
        public final int length;
        /** Where the device finds it; set by map_sg. */
        public long dmaAddress;
        /** Bytes from there, which may run into what was the next entry; set by map_sg. */
        public int dmaLength;

        /** Some bytes of a buffer. */
        public Scatter(KernelBuffer buffer, int offset, int length) {
            this.buffer = buffer;
            this.offset = offset;
            this.length = length;
        }
    }

    /** Memory that CPU and device see alike, and its address for the device. */
    public record Coherent(KernelBuffer buffer, long dmaAddress) {}

    private final Kernel kernel;
    private final ApiGate gate;

    Dma(Kernel kernel, ApiGate gate) {
        this.kernel = kernel;
        this.gate = gate;
    }

    private static DmaSpace space(IbDevice device) {
        return device.ops().control().dma();
    }

    /** {@code ib_dma_mapping_error}: 0, or -ENOMEM if the mapping failed. */
    public int ibDmaMappingError(IbDevice device, long dmaAddress) {
        space(device).checked(dmaAddress);
        return dmaAddress == DmaSpace.MAPPING_ERROR ? -Errno.ENOMEM : 0;
    }

    /**
     * {@code ib_dma_map_single}.
     *
     * @param cpuAddress first byte: {@link KernelBuffer#address} plus an offset
     * @return the address for the device, or {@link DmaSpace#MAPPING_ERROR}
     */
    public long ibDmaMapSingle(IbDevice device, long cpuAddress, int size, DmaDirection direction) {
        return space(device).map(cpuAddress, size, direction, DmaSpace.DmaFunction.SINGLE);
    }

    /** {@code ib_dma_unmap_single} with the size and direction of the mapping. */
    public void ibDmaUnmapSingle(IbDevice device, long dmaAddress, int size, DmaDirection direction) {
        space(device).unmap(dmaAddress, size, direction, DmaSpace.DmaFunction.SINGLE);
    }

    /**
     * {@code ib_dma_map_page}.
     *
     * @param page address of the page
     * @param offset first byte in it
     */
    public long ibDmaMapPage(IbDevice device, long page, int offset, int size, DmaDirection direction) {
        return space(device).map(page + offset, size, direction, DmaSpace.DmaFunction.PAGE);
    }

    /** {@code ib_dma_unmap_page}. */
    public void ibDmaUnmapPage(IbDevice device, long dmaAddress, int size, DmaDirection direction) {
        space(device).unmap(dmaAddress, size, direction, DmaSpace.DmaFunction.PAGE);
    }

    /**
     * {@code ib_dma_map_sg}: all or nothing. With no IOMMU entries that follow one another in memory are merged.
     *
     * @return entries to be used, at the front of the list; 0 if the mapping failed
     */
    public int ibDmaMapSg(IbDevice device, List<Scatter> sg, DmaDirection direction) {
        DmaSpace space = space(device);
        List<Long> done = new ArrayList<>();
        for (Scatter s : sg) {
            long at = space.map(s.buffer.address + s.offset, s.length, direction, DmaSpace.DmaFunction.SG);
            if (at == DmaSpace.MAPPING_ERROR) {
                for (int i = 0; i < done.size(); i++) {
                    space.unmap(done.get(i), sg.get(i).length, direction, DmaSpace.DmaFunction.SG);
                }
                return 0;
            }
            done.add(at);
        }
        int used = 0;
        for (int i = 0; i < sg.size(); i++) {
            Scatter last = used == 0 ? null : sg.get(used - 1);
            // each entry keeps its own mapping for the unmap; the device is shown them as one
            if (last != null && last.dmaAddress + last.dmaLength == done.get(i)) {
                last.dmaLength += sg.get(i).length;
            } else {
                Scatter s = sg.get(used++);
                s.dmaAddress = done.get(i);
                s.dmaLength = sg.get(i).length;
            }
        }
        mapped.put(sg, List.copyOf(done));
        return used;
    }

    /** The mappings behind each scatterlist, since its entries show merged ones. */
    private final IdentityHashMap<List<Scatter>, List<Long>> mapped = new IdentityHashMap<>();

    /** {@code ib_dma_unmap_sg} with the list as it was given to map_sg. */
    public void ibDmaUnmapSg(IbDevice device, List<Scatter> sg, DmaDirection direction) {
        List<Long> addresses = mapped.remove(sg);
        if (addresses == null) {
            kernel.observer().memoryFault(MemoryFault.DMA_NOT_MAPPED, sg.isEmpty() ? 0 : sg.get(0).dmaAddress, 0);
            return;
        }
        for (int i = 0; i < sg.size(); i++) {
            space(device).unmap(addresses.get(i), sg.get(i).length, direction, DmaSpace.DmaFunction.SG);
        }
    }

    /** {@code ib_dma_sync_single_for_cpu}: the CPU may read what the device wrote. */
    public void ibDmaSyncSingleForCpu(IbDevice device, long dmaAddress, int size, DmaDirection direction) {
        space(device).sync(dmaAddress, size, direction, true);
    }

    /** {@code ib_dma_sync_single_for_device}: the buffer is the device's again. */
    public void ibDmaSyncSingleForDevice(IbDevice device, long dmaAddress, int size, DmaDirection direction) {
        space(device).sync(dmaAddress, size, direction, false);
    }

    /**
     * {@code ib_dma_alloc_coherent}, gone in 5.11.
     *
     * @return null if there is no memory
     */
    public @Nullable Coherent ibDmaAllocCoherent(IbDevice device, int size) {
        gate.call("ib_dma_alloc_coherent");
        return dmaAllocCoherent(device, size);
    }

    /** {@code dma_alloc_coherent(dev->dma_device, ...)}, which is there in every kernel. */
    public @Nullable Coherent dmaAllocCoherent(IbDevice device, int size) {
        KernelBuffer buffer = kernel.memory().kmalloc(size);
        long at = space(device).map(buffer.address, size, DmaDirection.BIDIRECTIONAL, DmaSpace.DmaFunction.COHERENT);
        if (at == DmaSpace.MAPPING_ERROR) {
            kernel.memory().kfree(buffer);
            return null;
        }
        return new Coherent(buffer, at);
    }

    /** {@code ib_dma_free_coherent}, gone in 5.11. */
    public void ibDmaFreeCoherent(IbDevice device, Coherent memory) {
        gate.call("ib_dma_free_coherent");
        dmaFreeCoherent(device, memory);
    }

    /** {@code dma_free_coherent(dev->dma_device, ...)}, which is there in every kernel. */
    public void dmaFreeCoherent(IbDevice device, Coherent memory) {
        space(device)
                .unmap(
                        memory.dmaAddress,
                        memory.buffer.size(),
                        DmaDirection.BIDIRECTIONAL,
                        DmaSpace.DmaFunction.COHERENT);
        kernel.memory().kfree(memory.buffer);
    }
}
