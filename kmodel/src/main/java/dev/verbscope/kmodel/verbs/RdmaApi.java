package dev.verbscope.kmodel.verbs;

/**
 * The kernel's RDMA API as a consumer sees it: every function of the API sheet under its kernel name, in groups. A call
 * of a function that the profile's kernel does not have throws {@link MissingFunction}, which names the replacement.
 */
public final class RdmaApi {
    /** The data path, and objects without a protection domain. */
    public final Verbs verbs;
    /** G1. */
    public final Clients clients;
    /** G2. */
    public final Events events;
    /** G3, G4. */
    public final Ports ports;
    /** G5. */
    public final ProtectionDomains pds;
    /** G6. */
    public final AddressHandles ahs;
    /** G7. */
    public final Dma dma;
    /** G8. */
    public final MemoryRegions mrs;
    /** G9. */
    public final MemoryWindows mws;
    /** G10. */
    public final CompletionQueues cqs;
    /** G11. */
    public final SharedReceiveQueues srqs;
    /** G12, G13. */
    public final QueuePairs qps;
    /** G14. */
    public final Multicast mcast;

    /** The functions of one kernel. */
    public RdmaApi(Kernel kernel) {
        ApiGate gate = new ApiGate(kernel.profile());
        verbs = new Verbs(kernel);
        clients = new Clients(kernel, gate);
        events = new Events();
        ports = new Ports(gate);
        pds = new ProtectionDomains(kernel, gate);
        ahs = new AddressHandles(kernel, gate);
        dma = new Dma(kernel, gate);
        mrs = new MemoryRegions(kernel, gate);
        mws = new MemoryWindows(kernel, gate);
        cqs = new CompletionQueues(kernel, gate, verbs);
        srqs = new SharedReceiveQueues(kernel, gate, verbs);
        qps = new QueuePairs(kernel, verbs);
        mcast = new Multicast(gate);
    }
}
