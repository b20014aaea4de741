package dev.verbscope.kmodel.verbs;

import dev.verbscope.kmodel.profile.KernelVersion;
import dev.verbscope.kmodel.profile.PdDealloc;
import java.util.IdentityHashMap;

/** Protection domains (KERNEL_FACTS.md 6.2). */
public final class ProtectionDomains {
    /** Room that the allocator gives {@code struct ib_pd} with a driver's own behind it. */
    private static final int PD_BYTES = 0x100;

    /** From the core to a return address in a module that is unloaded when the trace is read. */
    private static final long UNLOADED_MODULE = 0x1df110;

    private final Kernel kernel;
    private final ApiGate gate;
    private final long deallocEntry;
    private final IdentityHashMap<IbDevice, Integer> alive = new IdentityHashMap<>();
    private int nextId;

    ProtectionDomains(Kernel kernel, ApiGate gate) {
        this.kernel = kernel;
        this.gate = gate;
        KernelVersion version = kernel.profile().version();
        String user = version != null && !version.atLeast(5, 2) ? "" : "_user";
        this.deallocEntry =
                kernel.text().function("ib_dealloc_pd" + user, 0x60, "ib_core").address();
    }

    /**
     * {@code ib_alloc_pd}.
     *
     * @throws IbError -ENOMEM if the device has none left
     */
    public IbPd ibAllocPd(IbDevice device) {
        return ibAllocPd(device, 0);
    }

    /**
     * {@code ib_alloc_pd} as it is from 4.9.
     *
     * @param flags 0 or {@link IbPd#UNSAFE_GLOBAL_RKEY}, which kernels to 4.8 do not know
     * @throws IbError -ENOMEM if the device has none left
     */
    public IbPd ibAllocPd(IbDevice device, int flags) {
        if (flags != 0 && !gate.atLeast(4, 9)) {
            throw new MissingFunction(
                    "ib_alloc_pd takes no flags in " + kernel.profile().name() + " (from 4.9): use ib_get_dma_mr");
        }
        int there = alive.getOrDefault(device, 0);
        if (there >= device.attrs().maxPd()) {
            throw new IbError(-Errno.ENOMEM, "ib_alloc_pd");
        }
        alive.put(device, there + 1);
        IbPd pd = new IbPd(device, kernel.memory().alloc(PD_BYTES, PD_BYTES), nextId++);
        pd.localDmaLkey = device.ops().control().dmaMr(pd, Access.LOCAL_WRITE).lkey;
        if ((flags & IbPd.UNSAFE_GLOBAL_RKEY) != 0) {
            kernel.printk(device.name() + ": a protection domain opens all memory to its peers");
            int all = Access.LOCAL_WRITE | Access.REMOTE_READ | Access.REMOTE_WRITE;
            pd.unsafeGlobalRkey = device.ops().control().dmaMr(pd, all).rkey;
        }
        return pd;
    }

    /**
     * {@code ib_dealloc_pd}. In use: -EBUSY to 4.2; a warning and freed all the same from 4.3 to 5.10; freed without a
     * word from 6.1. What uses it then uses freed memory, which shows when that is taken down.
     *
     * @return 0 or -EBUSY; 0 where the kernel's function is void
     */
    public int ibDeallocPd(IbPd pd) {
        traceEntry(pd);
        int ret = dealloc(pd);
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = deallocEntry;
            v[1] = deallocEntry + UNLOADED_MODULE;
            v[2] = ret;
            kernel.tracer().emit(kernel.events().deallocPdRet);
        }
        return ret;
    }

    private void traceEntry(IbPd pd) {
        if (kernel.tracer().on()) {
            long[] v = kernel.tracer().values();
            v[0] = deallocEntry;
            v[1] = pd.address;
            v[2] = pd.id;
            v[3] = pd.usecnt;
            v[4] = 0;
            kernel.tracer().emit(kernel.events().deallocPd);
        }
    }

    private int dealloc(IbPd pd) {
        if (pd.usecnt > 0) {
            kernel.observer().takenAwayInUse("pd", pd.usecnt);
            PdDealloc rule = kernel.profile().pdDealloc().value();
            if (rule == PdDealloc.BUSY) {
                return -Errno.EBUSY;
            }
            if (rule == PdDealloc.WARNS) {
                kernel.warn("drivers/infiniband/core/verbs.c", "ib_dealloc_pd");
            }
        }
        pd.freed = true;
        alive.merge(pd.device, -1, Integer::sum);
        return 0;
    }

    /** An object takes the PD. */
    static void use(Kernel kernel, IbPd pd) {
        if (pd.freed) {
            kernel.observer().memoryFault(MemoryFault.OBJECT_USE_AFTER_FREE, pd.id, 0);
        }
        pd.usecnt++;
    }

    /** An object gives the PD back. */
    static void release(Kernel kernel, IbPd pd) {
        if (pd.freed) {
            kernel.observer().memoryFault(MemoryFault.OBJECT_USE_AFTER_FREE, pd.id, 0);
        }
        pd.usecnt--;
    }
}
