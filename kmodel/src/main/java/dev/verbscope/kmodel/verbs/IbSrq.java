package dev.verbscope.kmodel.verbs;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** {@code struct ib_srq}: a receive queue that several QPs take from. Drivers extend it. */
public class IbSrq {
    /** The device. */
    public final IbDevice device;
    /** Where the structure lies. */
    public final long address;
    /** Number on the device. */
    public final int id;
    /** What the creator asked for. */
    public final IbQpCap asked;
    /** What the device gives. */
    public final IbQpCap granted;
    /** Its protection domain; null if none is looked at. */
    public @Nullable IbPd pd;
    /** Gets SRQ_LIMIT_REACHED; null if the owner does not care. */
    public @Nullable Consumer<IbEventType> eventHandler;
    /** QPs that use it: destroying it then gives -EBUSY. */
    public int usecnt;
    /** Fill below which SRQ_LIMIT_REACHED is raised once; 0 raises none. */
    public int limit;
    /** Receive WRs the driver ever accepted. */
    public long wrsAccepted;

    /** Made by drivers. */
    protected IbSrq(IbDevice device, long address, int id, IbQpCap asked, IbQpCap granted) {
        this.device = device;
        this.address = address;
        this.id = id;
        this.asked = asked;
        this.granted = granted;
    }
}
