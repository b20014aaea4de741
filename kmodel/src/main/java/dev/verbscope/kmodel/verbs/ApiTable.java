package dev.verbscope.kmodel.verbs;

import dev.verbscope.kmodel.profile.KernelVersion;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The kernel's RDMA API as a table: the API sheet's functions and those that took their place, with the kernels that
 * have them, their C form, results, traps and source. Presence was checked in 3.6, 4.4, 4.19, 5.10, 6.1, 6.12 and 7.2
 * (KERNEL_FACTS.md 6.3); a release between two of those is as good as that table's marks say, and where it is silent the
 * first kernel found without the function stands here.
 *
 * <p>The model holds itself to it: each function asks the table whether its kernel has it, and a test holds every
 * result named here to a test that provokes it.
 */
public final class ApiTable {
    private static final String FACTS = "KERNEL_FACTS.md 6.3";

    private static final String NO_OP = "-ENOSYS/-EOPNOTSUPP";

    private static final Map<String, ApiFunction> BY_NAME = new LinkedHashMap<>();

    static {
        clients();
        ports();
        domainsAndAddresses();
        dma();
        regions();
        windows();
        completionQueues();
        sharedQueues();
        queuePairs();
        posting();
        multicast();
    }

    private ApiTable() {}

    /** Every function, in the order of the API sheet. */
    public static List<ApiFunction> all() {
        return List.copyOf(BY_NAME.values());
    }

    /** A function by its kernel name. */
    public static Optional<ApiFunction> find(String name) {
        return Optional.ofNullable(BY_NAME.get(name));
    }

    static ApiFunction of(String name) {
        ApiFunction f = BY_NAME.get(name);
        if (f == null) {
            throw new IllegalArgumentException("no function " + name + " in the table");
        }
        return f;
    }

    private static void clients() {
        fn("G1", "ib_register_client", "Clients.ibRegisterClient")
                .c(3, 6, "int ib_register_client(struct ib_client *client)")
                .outcome("add error", "the client's add fails for a device: from 5.8 that device is not its own")
                .trap("add is called for every device that is there before the function returns")
                .trap("add returned void to 5.7; remove gets the client data only from 4.3")
                .from(FACTS + "; 6.12 in use the same");
        fn("G1", "ib_unregister_client", "Clients.ibUnregisterClient")
                .c(3, 6, "void ib_unregister_client(struct ib_client *client)")
                .trap("remove must give back everything made on the device before it returns");
        fn("G1", "ib_set_client_data", "Clients.ibSetClientData")
                .c(3, 6, "void ib_set_client_data(struct ib_device *device, struct ib_client *client, void *data)")
                .outcome("ignored", "the client is not registered: a warning, and nothing is kept");
        fn("G1", "ib_get_client_data", "Clients.ibGetClientData")
                .c(3, 6, "void *ib_get_client_data(struct ib_device *device, struct ib_client *client)")
                .outcome("NULL", "nothing was set for this device and client");
        fn("G2", "ib_register_event_handler", "Events.ibRegisterEventHandler")
                .c(3, 6, "int ib_register_event_handler(struct ib_event_handler *event_handler)")
                .c(4, 19, "void ib_register_event_handler(struct ib_event_handler *event_handler)")
                .outcome("oops", "the handler is on a list already")
                .trap(
                        "only events of the device and its ports come here; those of a QP, CQ or SRQ go to its own handler")
                .from(FACTS + ": int to void between 4.4 and 4.19");
        fn("G2", "ib_unregister_event_handler", "Events.ibUnregisterEventHandler")
                .c(3, 6, "int ib_unregister_event_handler(struct ib_event_handler *event_handler)")
                .c(4, 19, "void ib_unregister_event_handler(struct ib_event_handler *event_handler)")
                .outcome("oops", "the handler is on no list");
    }

    private static void ports() {
        fn("G3", "ib_query_device", "Ports.ibQueryDevice")
                .until(4, 5)
                .use("dev->attrs")
                .c(3, 6, "int ib_query_device(struct ib_device *device, struct ib_device_attr *device_attr)")
                .trap("capacities are limits of one object; several cannot always be had at once");
        fn("G3", "ib_query_port", "Ports.ibQueryPort")
                .c(3, 6, "int ib_query_port(struct ib_device *device, u8 port_num, struct ib_port_attr *port_attr)")
                .c(5, 13, "int ib_query_port(struct ib_device *device, u32 port_num, struct ib_port_attr *port_attr)")
                .outcome("-EINVAL", "no such port: they count from 1");
        fn("G3", "rdma_port_get_link_layer", "Ports.rdmaPortGetLinkLayer")
                .c(3, 6, "enum rdma_link_layer rdma_port_get_link_layer(struct ib_device *device, u8 port_num)")
                .c(5, 13, "enum rdma_link_layer rdma_port_get_link_layer(struct ib_device *device, u32 port_num)")
                .outcome("UNSPECIFIED", "no such port");
        fn("G4", "ib_query_gid", "Ports.ibQueryGid")
                .until(4, 19)
                .use("rdma_query_gid, rdma_get_gid_attr")
                .c(3, 6, "int ib_query_gid(struct ib_device *device, u8 port_num, int index, union ib_gid *gid)")
                .outcome("-EINVAL", "no such port or index")
                .from(FACTS + ": gone between 4.4 and 4.19");
        fn("G4", "rdma_query_gid", "Ports.rdmaQueryGid")
                .since(4, 19)
                .use("ib_query_gid")
                .c(4, 19, "int rdma_query_gid(struct ib_device *device, u8 port_num, int index, union ib_gid *gid)")
                .outcome("-EINVAL", "no such port or index");
        fn("G4", "ib_query_pkey", "Ports.ibQueryPkey")
                .c(3, 6, "int ib_query_pkey(struct ib_device *device, u8 port_num, u16 index, u16 *pkey)")
                .c(5, 13, "int ib_query_pkey(struct ib_device *device, u32 port_num, u16 index, u16 *pkey)")
                .outcome("-EINVAL", "no such port or index");
        fn("G4", "ib_find_gid", "Ports.ibFindGid")
                .c(3, 6, "int ib_find_gid(struct ib_device *device, union ib_gid *gid, u8 *port_num, u16 *index)")
                .c(4, 19, "int ib_find_gid(struct ib_device *device, union ib_gid *gid, u32 *port_num, u16 *index)")
                .outcome("-ENOENT", "no port has it; from 4.19 ports of Ethernet are not looked at")
                .trap("RoCE GIDs: rdma_find_gid and its kin, from 4.19");
        fn("G4", "ib_find_pkey", "Ports.ibFindPkey")
                .c(3, 6, "int ib_find_pkey(struct ib_device *device, u8 port_num, u16 pkey, u16 *index)")
                .c(5, 13, "int ib_find_pkey(struct ib_device *device, u32 port_num, u16 pkey, u16 *index)")
                .outcome("-ENOENT", "the port's table has no such key, whatever its membership bit");
    }

    private static void domainsAndAddresses() {
        fn("G5", "ib_alloc_pd", "ProtectionDomains.ibAllocPd")
                .c(3, 6, "struct ib_pd *ib_alloc_pd(struct ib_device *device)")
                .c(4, 9, "struct ib_pd *ib_alloc_pd(struct ib_device *device, unsigned int flags)")
                .outcome("-ENOMEM", "the device has no PD left")
                .trap(
                        "pd->local_dma_lkey reaches all memory that is mapped for DMA: no MR is needed to send and receive")
                .from(FACTS + ", 6.2");
        fn("G5", "ib_dealloc_pd", "ProtectionDomains.ibDeallocPd")
                .c(3, 6, "int ib_dealloc_pd(struct ib_pd *pd)")
                .c(4, 3, "void ib_dealloc_pd(struct ib_pd *pd)")
                .outcome("-EBUSY", "in use, to 4.2: the PD lives on")
                .outcome("WARN", "in use, 4.3 to 5.10: a warning, and it is freed under its users")
                .outcome("unchecked", "in use, from 6.1: freed without a word unless the driver refuses")
                .trap("an -EBUSY that was seen in testing on an old kernel is a use after free on a new one")
                .from("KERNEL_FACTS.md 6.2");
        fn("G6", "ib_create_ah", "AddressHandles.ibCreateAh")
                .until(4, 12)
                .use("rdma_create_ah")
                .c(3, 6, "struct ib_ah *ib_create_ah(struct ib_pd *pd, struct ib_ah_attr *ah_attr)")
                .outcome("-EINVAL", "no such port or GID index, or no GRH on an Ethernet port")
                .outcome("-EOPNOTSUPP", "the device has no datagrams (iWARP)");
        fn("G6", "rdma_create_ah", "AddressHandles.rdmaCreateAh")
                .since(4, 12)
                .use("ib_create_ah")
                .c(4, 12, "struct ib_ah *rdma_create_ah(struct ib_pd *pd, struct rdma_ah_attr *ah_attr)")
                .c(5, 0, "struct ib_ah *rdma_create_ah(struct ib_pd *pd, struct rdma_ah_attr *ah_attr, u32 flags)")
                .outcome("-EINVAL", "no such port or GID index, or no GRH on an Ethernet port")
                .outcome("-EOPNOTSUPP", "the device has no datagrams (iWARP)")
                .trap("without RDMA_CREATE_AH_SLEEPABLE the driver must not sleep, and some are slow then");
        fn("G6", "ib_init_ah_from_wc", "AddressHandles.ibInitAhFromWc")
                .until(4, 16)
                .use("ib_init_ah_attr_from_wc")
                .c(
                        3,
                        6,
                        "int ib_init_ah_from_wc(struct ib_device *device, u8 port_num, struct ib_wc *wc, struct ib_grh"
                                + " *grh, struct ib_ah_attr *ah_attr)")
                .outcome("-ENOENT", "the GRH's destination GID is none of this device's")
                .trap("the GRH is the first 40 bytes of the datagram's buffer and only there if IB_WC_GRH is set");
        fn("G6", "ib_init_ah_attr_from_wc", "AddressHandles.ibInitAhAttrFromWc")
                .since(4, 16)
                .use("ib_init_ah_from_wc")
                .c(
                        4,
                        16,
                        "int ib_init_ah_attr_from_wc(struct ib_device *device, u8 port_num, const struct ib_wc *wc,"
                                + " const struct ib_grh *grh, struct rdma_ah_attr *ah_attr)")
                .outcome("-ENOENT", "the GRH's destination GID is none of this device's");
        fn("G6", "ib_create_ah_from_wc", "AddressHandles.ibCreateAhFromWc")
                .c(
                        3,
                        6,
                        "struct ib_ah *ib_create_ah_from_wc(struct ib_pd *pd, struct ib_wc *wc, struct ib_grh *grh, u8"
                                + " port_num)")
                .outcome("-ENOENT", "the GRH's destination GID is none of this device's");
        fn("G6", "ib_modify_ah", "AddressHandles.ibModifyAh")
                .until(4, 12)
                .use("rdma_modify_ah")
                .c(3, 6, "int ib_modify_ah(struct ib_ah *ah, struct ib_ah_attr *ah_attr)")
                .outcome(NO_OP, "the driver has no such op: most have not");
        fn("G6", "rdma_modify_ah", "AddressHandles.rdmaModifyAh")
                .since(4, 12)
                .use("ib_modify_ah")
                .c(4, 12, "int rdma_modify_ah(struct ib_ah *ah, struct rdma_ah_attr *ah_attr)")
                .outcome(NO_OP, "the driver has no such op: most have not");
        fn("G6", "ib_query_ah", "AddressHandles.ibQueryAh")
                .until(4, 12)
                .use("rdma_query_ah")
                .c(3, 6, "int ib_query_ah(struct ib_ah *ah, struct ib_ah_attr *ah_attr)")
                .outcome(NO_OP, "the driver has no such op");
        fn("G6", "rdma_query_ah", "AddressHandles.rdmaQueryAh")
                .since(4, 12)
                .use("ib_query_ah")
                .c(4, 12, "int rdma_query_ah(struct ib_ah *ah, struct rdma_ah_attr *ah_attr)")
                .outcome(NO_OP, "the driver has no such op");
        fn("G6", "ib_destroy_ah", "AddressHandles.ibDestroyAh")
                .until(4, 12)
                .use("rdma_destroy_ah")
                .c(3, 6, "int ib_destroy_ah(struct ib_ah *ah)")
                .trap("a send that is queued reads the AH when it goes out: destroy it after the completion");
        fn("G6", "rdma_destroy_ah", "AddressHandles.rdmaDestroyAh")
                .since(4, 12)
                .use("ib_destroy_ah")
                .c(4, 12, "int rdma_destroy_ah(struct ib_ah *ah)")
                .c(5, 0, "int rdma_destroy_ah(struct ib_ah *ah, u32 flags)");
    }

    private static void dma() {
        String uncoherent = "where the caches are not coherent or memory is bounced";
        fn("G7", "ib_dma_mapping_error", "Dma.ibDmaMappingError")
                .c(3, 6, "int ib_dma_mapping_error(struct ib_device *dev, u64 dma_addr)")
                .outcome("-ENOMEM", "the mapping failed: the address must not be given to the device")
                .from(FACTS + ": from 5.11 it acts on dev->dma_device or maps to itself");
        fn("G7", "ib_dma_map_single", "Dma.ibDmaMapSingle")
                .c(
                        3,
                        6,
                        "u64 ib_dma_map_single(struct ib_device *dev, void *cpu_addr, size_t size, enum"
                                + " dma_data_direction direction)")
                .outcome("DMA_MAPPING_ERROR", "no IOMMU space or bounce buffer")
                .trap("memory of a stack or of vmalloc is not for dma_map_single")
                .trap("a buffer belongs to the device from here to the unmap or a sync for the CPU");
        fn("G7", "ib_dma_unmap_single", "Dma.ibDmaUnmapSingle")
                .c(
                        3,
                        6,
                        "void ib_dma_unmap_single(struct ib_device *dev, u64 addr, size_t size, enum"
                                + " dma_data_direction direction)")
                .outcome("stale mapping", "unmapped before its completion: the device writes on")
                .outcome("DMA-API report", "unknown address, another size or direction: a debug kernel says so");
        fn("G7", "ib_dma_map_page", "Dma.ibDmaMapPage")
                .c(
                        3,
                        6,
                        "u64 ib_dma_map_page(struct ib_device *dev, struct page *page, unsigned long offset, size_t"
                                + " size, enum dma_data_direction direction)")
                .outcome("DMA_MAPPING_ERROR", "no IOMMU space or bounce buffer");
        fn("G7", "ib_dma_unmap_page", "Dma.ibDmaUnmapPage")
                .c(
                        3,
                        6,
                        "void ib_dma_unmap_page(struct ib_device *dev, u64 addr, size_t size, enum dma_data_direction"
                                + " direction)")
                .outcome("DMA-API report", "mapped by another function, unknown, another size or direction");
        fn("G7", "ib_dma_map_sg", "Dma.ibDmaMapSg")
                .c(
                        3,
                        6,
                        "int ib_dma_map_sg(struct ib_device *dev, struct scatterlist *sg, int nents, enum"
                                + " dma_data_direction direction)")
                .outcome("0", "nothing was mapped: the error is 0, not negative")
                .trap("it may give back fewer entries than it took: neighbours are merged");
        fn("G7", "ib_dma_unmap_sg", "Dma.ibDmaUnmapSg")
                .c(
                        3,
                        6,
                        "void ib_dma_unmap_sg(struct ib_device *dev, struct scatterlist *sg, int nents, enum"
                                + " dma_data_direction direction)")
                .outcome("DMA-API report", "not mapped")
                .trap("nents is what was given to map_sg, not what it returned");
        fn("G7", "ib_dma_sync_single_for_cpu", "Dma.ibDmaSyncSingleForCpu")
                .c(
                        3,
                        6,
                        "void ib_dma_sync_single_for_cpu(struct ib_device *dev, u64 addr, size_t size, enum"
                                + " dma_data_direction dir)")
                .outcome("old bytes", "left out " + uncoherent + ": the CPU reads what was there before")
                .outcome("DMA-API report", "not mapped");
        fn("G7", "ib_dma_sync_single_for_device", "Dma.ibDmaSyncSingleForDevice")
                .c(
                        3,
                        6,
                        "void ib_dma_sync_single_for_device(struct ib_device *dev, u64 addr, size_t size, enum"
                                + " dma_data_direction dir)")
                .outcome("old bytes", "left out " + uncoherent + ": the device sends what was there before")
                .outcome("DMA-API report", "not mapped");
        fn("G7", "ib_dma_alloc_coherent", "Dma.ibDmaAllocCoherent")
                .until(5, 11)
                .use("dma_alloc_coherent(dev->dma_device, ...)")
                .c(3, 6, "void *ib_dma_alloc_coherent(struct ib_device *dev, size_t size, u64 *dma_handle, gfp_t flag)")
                .outcome("NULL", "no memory");
        fn("G7", "ib_dma_free_coherent", "Dma.ibDmaFreeCoherent")
                .until(5, 11)
                .use("dma_free_coherent(dev->dma_device, ...)")
                .c(
                        3,
                        6,
                        "void ib_dma_free_coherent(struct ib_device *dev, size_t size, void *cpu_addr, u64 dma_handle)")
                .outcome("DMA-API report", "it is no coherent memory of this device");
    }

    private static void regions() {
        fn("G8", "ib_get_dma_mr", "MemoryRegions.ibGetDmaMr")
                .until(4, 9)
                .use("pd->local_dma_lkey; for a remote key IB_PD_UNSAFE_GLOBAL_RKEY")
                .c(3, 6, "struct ib_mr *ib_get_dma_mr(struct ib_pd *pd, int mr_access_flags)")
                .outcome("-EINVAL", "remote write or atomic without local write")
                .trap("with remote access it opens all memory to the peer");
        fn("G8", "ib_reg_phys_mr", "MemoryRegions.ibRegPhysMr")
                .until(4, 4)
                .use("ib_alloc_mr, ib_map_mr_sg and IB_WR_REG_MR")
                .c(
                        3,
                        6,
                        "struct ib_mr *ib_reg_phys_mr(struct ib_pd *pd, struct ib_phys_buf *phys_buf_array, int"
                                + " num_phys_buf, int mr_access_flags, u64 *iova_start)")
                .outcome("-EINVAL", "remote write or atomic without local write, no buffers, or holes between them")
                .outcome(NO_OP, "the driver has no such op")
                .from(FACTS + ": gone from the core by 4.4, driver ops with 4.5");
        fn("G8", "ib_rereg_phys_mr", "MemoryRegions.ibReregPhysMr")
                .until(4, 4)
                .use("IB_WR_LOCAL_INV and IB_WR_REG_MR on an MR of ib_alloc_mr")
                .c(
                        3,
                        6,
                        "int ib_rereg_phys_mr(struct ib_mr *mr, int mr_rereg_mask, struct ib_pd *pd, struct ib_phys_buf"
                                + " *phys_buf_array, int num_phys_buf, int mr_access_flags, u64 *iova_start)")
                .outcome("-EINVAL", "remote write or atomic without local write, or holes between the buffers")
                .outcome("-EBUSY", "memory windows are bound to it")
                .outcome(NO_OP, "the driver has no such op")
                .trap("keys may change: hand out the new rkey")
                .from(FACTS + ": gone from the core by 4.4, driver ops with 4.5");
        fn("G8", "ib_query_mr", "MemoryRegions.ibQueryMr")
                .until(4, 5)
                .c(3, 6, "int ib_query_mr(struct ib_mr *mr, struct ib_mr_attr *mr_attr)")
                .outcome(NO_OP, "the driver has no such op");
        fn("G8", "ib_dereg_mr", "MemoryRegions.ibDeregMr")
                .c(3, 6, "int ib_dereg_mr(struct ib_mr *mr)")
                .outcome("-EBUSY", "memory windows are bound to it (to 4.4)")
                .outcome(
                        "LOC_PROT_ERR",
                        "receives that name its key are still posted: each is refused when a message" + " arrives");
        fn("G8", "ib_alloc_mr", "MemoryRegions.ibAllocMr")
                .since(4, 4)
                .article()
                .use("ib_alloc_fast_reg_mr")
                .c(4, 4, "struct ib_mr *ib_alloc_mr(struct ib_pd *pd, enum ib_mr_type mr_type, u32 max_num_sg)")
                .outcome("-EINVAL", "no entries, or more than the device can do")
                .from("KERNEL_FACTS.md 2.1, 6.3; emits rdma_core:mr_alloc from 5.6, failures too");
        fn("G8", "ib_map_mr_sg", "MemoryRegions.ibMapMrSg")
                .since(4, 4)
                .article()
                .use("a page list of your own")
                .c(
                        4,
                        4,
                        "int ib_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int sg_nents, unsigned int"
                                + " page_size)")
                .c(
                        4,
                        19,
                        "int ib_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int sg_nents, unsigned int"
                                + " *sg_offset, unsigned int page_size)")
                .outcome("fewer", "more pages than the MR has room for, or a gap that is not on a page")
                .outcome("-EINVAL", "an offset behind the first entry's end, or a page size the device has not")
                .trap("it changes the description only: the key is live when IB_WR_REG_MR has run");
    }

    private static void windows() {
        String gone = FACTS + ": gone with 4.5; user space keeps them";
        fn("G9", "ib_alloc_mw", "MemoryWindows.ibAllocMw")
                .until(4, 5)
                .c(3, 6, "struct ib_mw *ib_alloc_mw(struct ib_pd *pd)")
                .c(3, 9, "struct ib_mw *ib_alloc_mw(struct ib_pd *pd, enum ib_mw_type type)")
                .outcome(NO_OP, "the driver has no such op")
                .from(gone);
        fn("G9", "ib_bind_mw", "MemoryWindows.ibBindMw")
                .until(4, 5)
                .c(3, 6, "int ib_bind_mw(struct ib_qp *qp, struct ib_mw *mw, struct ib_mw_bind *mw_bind)")
                .outcome(NO_OP, "the driver has no such op")
                .outcome("-EINVAL", "the QP cannot send, is no RC or UC, or is of another PD")
                .outcome("MW_BIND_ERR", "the MR has no IB_ACCESS_MW_BIND, is too small, or lacks local write")
                .trap("the new rkey counts when the bind has completed; binding no bytes takes the access away")
                .from(gone);
        fn("G9", "ib_dealloc_mw", "MemoryWindows.ibDeallocMw")
                .until(4, 5)
                .c(3, 6, "int ib_dealloc_mw(struct ib_mw *mw)")
                .trap("the peer's next access with its rkey is refused and ends the connection")
                .from(gone);
    }

    private static void completionQueues() {
        fn("G10", "ib_create_cq", "CompletionQueues.ibCreateCq")
                .c(
                        3,
                        6,
                        "struct ib_cq *ib_create_cq(struct ib_device *device, ib_comp_handler comp_handler, void"
                                + " (*event_handler)(struct ib_event *, void *), void *cq_context, int cqe, int"
                                + " comp_vector)")
                .c(
                        4,
                        2,
                        "struct ib_cq *ib_create_cq(struct ib_device *device, ib_comp_handler comp_handler, void"
                                + " (*event_handler)(struct ib_event *, void *), void *cq_context, const struct"
                                + " ib_cq_init_attr *cq_attr)")
                .outcome("-EINVAL", "no entries, more than the device can do, or no such completion vector")
                .trap("cq->cqe may be more than was asked for")
                .from(FACTS + ", 6.1");
        fn("G10", "ib_resize_cq", "CompletionQueues.ibResizeCq")
                .until(7, 1)
                .use("a second CQ")
                .c(3, 6, "int ib_resize_cq(struct ib_cq *cq, int cqe)")
                .outcome(NO_OP, "the driver has no such op, or the CQ is of the shared pool")
                .outcome("-EINVAL", "no entries, more than the device can do, or fewer than wait in it")
                .from("KERNEL_FACTS.md 6.1, 6.3");
        fn("G10", "ib_modify_cq", "CompletionQueues.ibModifyCq")
                .until(4, 15)
                .use("rdma_set_cq_moderation")
                .c(3, 6, "int ib_modify_cq(struct ib_cq *cq, u16 cq_count, u16 cq_period)")
                .outcome(NO_OP, "the driver has no such op: only mlx4, mlx5 and hns have");
        fn("G10", "rdma_set_cq_moderation", "CompletionQueues.rdmaSetCqModeration")
                .since(4, 15)
                .use("ib_modify_cq")
                .c(4, 15, "int rdma_set_cq_moderation(struct ib_cq *cq, u16 cq_count, u16 cq_period)")
                .outcome(NO_OP, "the driver has no such op, or the CQ is of the shared pool")
                .from("KERNEL_FACTS.md 6.1, 6.3");
        fn("G10", "ib_peek_cq", "CompletionQueues.ibPeekCq")
                .until(4, 19)
                .prototypeOnly()
                .c(3, 6, "int ib_peek_cq(struct ib_cq *cq, int wc_cnt)")
                .outcome("unknown symbol", "in every mainline kernel: declared to 4.4, defined in none")
                .from(FACTS + ": the driver op exists to 7.2 and rxe has one");
        fn("G10", "ib_req_notify_cq", "CompletionQueues.ibReqNotifyCq")
                .c(3, 6, "int ib_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags)")
                .outcome("1", "completions wait already and IB_CQ_REPORT_MISSED_EVENTS was given: poll again")
                .outcome("-EINVAL", "neither or both of IB_CQ_SOLICITED and IB_CQ_NEXT_COMP")
                .trap("arming is for one event; without the flag a completion that came before is not told")
                .from(
                        "KERNEL_FACTS.md 6.1; that two flags are refused is the model's: the kernel asks for exactly one");
        fn("G10", "ib_poll_cq", "CompletionQueues.ibPollCq")
                .c(3, 6, "int ib_poll_cq(struct ib_cq *cq, int num_entries, struct ib_wc *wc)")
                .outcome("0", "nothing waits")
                .trap("of an error completion only wr_id, status, vendor_err and qp are valid")
                .from("KERNEL_FACTS.md 6.1");
        fn("G10", "ib_destroy_cq", "CompletionQueues.ibDestroyCq")
                .c(3, 6, "int ib_destroy_cq(struct ib_cq *cq)")
                .c(5, 10, "void ib_destroy_cq(struct ib_cq *cq)")
                .outcome("-EBUSY", "a QP uses it; the void form warns and it lives on")
                .from("KERNEL_FACTS.md 6.1");
    }

    private static void sharedQueues() {
        fn("G11", "ib_create_srq", "SharedReceiveQueues.ibCreateSrq")
                .c(3, 6, "struct ib_srq *ib_create_srq(struct ib_pd *pd, struct ib_srq_init_attr *srq_init_attr)")
                .outcome(NO_OP, "the device has none")
                .outcome("-EINVAL", "more WRs or SGEs than the device can do")
                .from(FACTS + ", 6.2");
        fn("G11", "ib_modify_srq", "SharedReceiveQueues.ibModifySrq")
                .c(
                        3,
                        6,
                        "int ib_modify_srq(struct ib_srq *srq, struct ib_srq_attr *srq_attr, enum ib_srq_attr_mask"
                                + " srq_attr_mask)")
                .outcome("-EINVAL", "a limit above the depth, or a resize, which few devices know")
                .trap("the limit is for one event: SRQ_LIMIT_REACHED sets it back to 0")
                .from("KERNEL_FACTS.md 6.2");
        fn("G11", "ib_query_srq", "SharedReceiveQueues.ibQuerySrq")
                .c(3, 6, "int ib_query_srq(struct ib_srq *srq, struct ib_srq_attr *srq_attr)");
        fn("G11", "ib_destroy_srq", "SharedReceiveQueues.ibDestroySrq")
                .c(3, 6, "int ib_destroy_srq(struct ib_srq *srq)")
                .c(5, 10, "void ib_destroy_srq(struct ib_srq *srq)")
                .outcome("-EBUSY", "a QP uses it")
                .trap("WRs in it are not flushed by a QP's error; take the buffers back after this")
                .from("KERNEL_FACTS.md 6.2");
        fn("G11", "ib_post_srq_recv", "SharedReceiveQueues.ibPostSrqRecv")
                .c(
                        3,
                        6,
                        "int ib_post_srq_recv(struct ib_srq *srq, struct ib_recv_wr *recv_wr, struct ib_recv_wr"
                                + " **bad_recv_wr)")
                .c(
                        4,
                        19,
                        "int ib_post_srq_recv(struct ib_srq *srq, const struct ib_recv_wr *recv_wr, const struct"
                                + " ib_recv_wr **bad_recv_wr)")
                .outcome("-ENOMEM", "the queue is full; another errno on some drivers")
                .outcome("-EINVAL", "more SGEs than the queue has room for; another errno on some drivers")
                .from("KERNEL_FACTS.md 1, 4; errno by driver: profiles --drivers");
    }

    private static void queuePairs() {
        fn("G12", "ib_create_qp", "QueuePairs.ibCreateQp")
                .c(3, 6, "struct ib_qp *ib_create_qp(struct ib_pd *pd, struct ib_qp_init_attr *qp_init_attr)")
                .outcome("-EINVAL", "more WRs or SGEs than the device can do, or a CQ or SRQ of another device")
                .trap("caps granted may be more than asked; not every driver writes them back")
                .from(FACTS + ", 4.1, 6.2");
        fn("G12", "ib_modify_qp", "QueuePairs.ibModifyQp")
                .c(3, 6, "int ib_modify_qp(struct ib_qp *qp, struct ib_qp_attr *qp_attr, int qp_attr_mask)")
                .outcome(
                        "-EINVAL",
                        "no such transition, a required attribute missing, one too many, or a port, P_Key"
                                + " or GID index that is not there")
                .trap("RESET to RTR and INIT to RTS do not exist: one state at a time")
                .from("KERNEL_FACTS.md 5");
        fn("G12", "ib_query_qp", "QueuePairs.ibQueryQp")
                .c(
                        3,
                        6,
                        "int ib_query_qp(struct ib_qp *qp, struct ib_qp_attr *qp_attr, int qp_attr_mask, struct"
                                + " ib_qp_init_attr *qp_init_attr)")
                .trap("the real depth is here also where create_qp did not write it back (rxe 6.1)")
                .from("KERNEL_FACTS.md 4.1, 8");
        fn("G12", "ib_destroy_qp", "QueuePairs.ibDestroyQp")
                .c(3, 6, "int ib_destroy_qp(struct ib_qp *qp)")
                .outcome("-EBUSY", "it is in a multicast group")
                .trap("drain first: buffers of WRs that are queued come back by no completion")
                .from("KERNEL_FACTS.md 6.2");
    }

    private static void posting() {
        fn("G13", "ib_post_send", "QueuePairs.ibPostSend")
                .c(
                        3,
                        6,
                        "int ib_post_send(struct ib_qp *qp, struct ib_send_wr *send_wr, struct ib_send_wr"
                                + " **bad_send_wr)")
                .c(
                        4,
                        19,
                        "int ib_post_send(struct ib_qp *qp, const struct ib_send_wr *send_wr, const struct ib_send_wr"
                                + " **bad_send_wr)")
                .outcome("-EINVAL", "below RTS, too many SGEs, an opcode the QP's type has not, inline data too long")
                .outcome("-ENOMEM", "the send queue is full")
                .outcome(
                        "LOC_PROT_ERR",
                        "a local key that is dead, of another PD, too small, or without local write"
                                + " for what comes back")
                .outcome("LOC_LEN_ERR", "a datagram longer than the path's MTU")
                .outcome("LOC_QP_OP_ERR", "IB_WR_LOCAL_INV of a key that is not live, IB_WR_REG_MR of an MR that is")
                .outcome("REM_ACCESS_ERR", "the remote key is dead, too small or without that access")
                .outcome("REM_INV_REQ_ERR", "the peer's QP does not allow it, or an atomic is not on 8 bytes")
                .outcome("RNR_RETRY_EXC_ERR", "the peer's receive queue stayed empty")
                .outcome("RETRY_EXC_ERR", "nobody answers")
                .outcome("WR_FLUSH_ERR", "the QP is in ERR")
                .outcome("dropped", "UC and UD: lost, nobody ready, wrong Q_Key: success at the sender all the same")
                .trap("the buffer may be changed after the completion and not before, but for IB_SEND_INLINE")
                .trap("without IB_SEND_SIGNALED only an error completes; slots come back with a later signaled one")
                .from("KERNEL_FACTS.md 1, 7; InfiniBand specification for the statuses");
        fn("G13", "ib_post_recv", "Verbs.ibPostRecv")
                .c(
                        3,
                        6,
                        "int ib_post_recv(struct ib_qp *qp, struct ib_recv_wr *recv_wr, struct ib_recv_wr"
                                + " **bad_recv_wr)")
                .c(
                        4,
                        19,
                        "int ib_post_recv(struct ib_qp *qp, const struct ib_recv_wr *recv_wr, const struct ib_recv_wr"
                                + " **bad_recv_wr)")
                .outcome("-ENOMEM", "the ring is full; another errno on some drivers")
                .outcome("-EINVAL", "too many SGEs, QP in RESET, QP on an SRQ; by driver")
                .outcome("oops", "bad_recv_wr is NULL and the post fails, to 4.18")
                .outcome("LOC_PROT_ERR", "the key is dead, of another PD, too small or without local write")
                .outcome("LOC_LEN_ERR", "the message is longer than the buffers")
                .outcome("WR_FLUSH_ERR", "the QP is in ERR")
                .trap("on error the WRs before *bad_recv_wr are queued: repost from there, not from the head")
                .trap("a wrapper has no symbol: probe the driver's op")
                .trap("UD: the first 40 bytes are the GRH's, and byte_len counts them")
                .from("KERNEL_FACTS.md 1, 4; errno by driver: profiles --drivers");
    }

    private static void multicast() {
        String refused = "the GID is no multicast one, the QP no UD, or the LID no multicast one";
        fn("G14", "ib_attach_mcast", "Multicast.ibAttachMcast")
                .c(3, 6, "int ib_attach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)")
                .outcome("-EINVAL", refused)
                .outcome(NO_OP, "the driver has no such op")
                .trap("a member gets what it sends itself: tell by the source QP and LID")
                .from("KERNEL_FACTS.md 6.2");
        fn("G14", "ib_detach_mcast", "Multicast.ibDetachMcast")
                .c(3, 6, "int ib_detach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)")
                .outcome("-EINVAL", refused + ", or it is not attached")
                .outcome(NO_OP, "the driver has no such op")
                .from("KERNEL_FACTS.md 6.2");
    }

    private static Row fn(String group, String name, String java) {
        return new Row(group, name, java);
    }

    /** A row that is written into the table with each thing it learns. */
    private static final class Row {
        private final String group;
        private final String name;
        private final String java;
        private @Nullable KernelVersion since;
        private @Nullable KernelVersion until;
        private boolean prototypeOnly;
        private boolean sheet = true;
        private String replacement = "";
        private final List<ApiFunction.Signature> signatures = new ArrayList<>();
        private final List<ApiFunction.Outcome> outcomes = new ArrayList<>();
        private final List<String> traps = new ArrayList<>();
        private String source = FACTS;

        Row(String group, String name, String java) {
            this.group = group;
            this.name = name;
            this.java = java;
        }

        private Row write() {
            BY_NAME.put(
                    name,
                    new ApiFunction(
                            name,
                            group,
                            sheet,
                            since,
                            until,
                            prototypeOnly,
                            replacement,
                            signatures,
                            java,
                            outcomes,
                            traps,
                            source));
            return this;
        }

        Row since(int major, int minor) {
            since = new KernelVersion(major, minor);
            sheet = false;
            return write();
        }

        /** The article names it beside the sheet. */
        Row article() {
            sheet = true;
            return write();
        }

        Row until(int major, int minor) {
            until = new KernelVersion(major, minor);
            return write();
        }

        Row prototypeOnly() {
            prototypeOnly = true;
            return write();
        }

        Row use(String instead) {
            replacement = instead;
            return write();
        }

        Row c(int major, int minor, String text) {
            signatures.add(new ApiFunction.Signature(new KernelVersion(major, minor), text));
            return write();
        }

        Row outcome(String result, String when) {
            outcomes.add(new ApiFunction.Outcome(result, when));
            return write();
        }

        Row trap(String text) {
            traps.add(text);
            return write();
        }

        Row from(String text) {
            source = text;
            return write();
        }
    }
}
