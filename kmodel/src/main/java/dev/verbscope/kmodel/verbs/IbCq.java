package dev.verbscope.kmodel.verbs;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** {@code struct ib_cq}: the part the core knows. Drivers extend it. */
public class IbCq {
    /** The device. */
    public final IbDevice device;
    /** Where the structure lies. */
    public final long address;
    /** {@code cq->res.id}: cyclic per device; 0 is valid. */
    public final int id;
    /** Capacity as granted. */
    public final int cqe;
    /** Called when a completion arrives while armed; null if the owner polls only. */
    public final @Nullable Runnable compHandler;
    /** Gets CQ_ERR; null if the owner does not care. */
    public @Nullable Consumer<IbEventType> eventHandler;
    /** QPs that use it: destroying it then gives -EBUSY. */
    public int usecnt;

    /** Made by drivers. */
    protected IbCq(IbDevice device, long address, int id, int cqe, @Nullable Runnable compHandler) {
        this.device = device;
        this.address = address;
        this.id = id;
        this.cqe = cqe;
        this.compHandler = compHandler;
    }
}
