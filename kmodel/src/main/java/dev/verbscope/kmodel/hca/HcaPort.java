package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.IbAhAttr;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.IbGid;
import dev.verbscope.kmodel.verbs.IbPortAttr;
import dev.verbscope.kmodel.verbs.LinkLayer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A port of a device: its addresses, its P_Keys, and the fabric it is plugged into. */
public final class HcaPort {
    /** The default partition, full member. */
    public static final int DEFAULT_PKEY = 0xffff;

    private static final int MTU = 4096;

    /** Whose port. */
    public final Hca hca;
    /** From 1. */
    public final int number;
    /** What it runs over. */
    public final LinkLayer linkLayer;

    private final List<@Nullable IbGid> gids = new ArrayList<>();
    private final List<Integer> pkeys = new ArrayList<>(List.of(DEFAULT_PKEY));
    private int lid;
    private int smLid;
    private boolean active;
    private @Nullable Fabric fabric;

    HcaPort(Hca hca, int number, LinkLayer linkLayer) {
        this.hca = hca;
        this.number = number;
        this.linkLayer = linkLayer;
    }

    void plug(Fabric into, int givenLid, int givenSmLid, IbGid gid) {
        fabric = into;
        lid = linkLayer == LinkLayer.INFINIBAND ? givenLid : 0;
        smLid = linkLayer == LinkLayer.INFINIBAND ? givenSmLid : 0;
        gids.add(0, gid);
        up(true);
    }

    /** The fabric; null if no cable is in. */
    public @Nullable Fabric fabric() {
        return fabric;
    }

    /** The cable is good, or not: PORT_ACTIVE or PORT_ERR to whoever listens. */
    public void up(boolean now) {
        if (active != now) {
            active = now;
            hca.portEvent(now ? IbEventType.PORT_ACTIVE : IbEventType.PORT_ERR, number);
        }
    }

    /** Whether it is IB_PORT_ACTIVE. */
    public boolean active() {
        return active;
    }

    /** The subnet manager gives it another LID: LID_CHANGE. */
    public void lid(int other) {
        lid = other;
        hca.portEvent(IbEventType.LID_CHANGE, number);
    }

    /** Its LID; 0 on Ethernet. */
    public int lid() {
        return lid;
    }

    /** One more GID: GID_CHANGE. */
    public void addGid(IbGid gid) {
        gids.add(gid);
        hca.portEvent(IbEventType.GID_CHANGE, number);
    }

    /** One more P_Key of 16 bits, the top one for full membership: PKEY_CHANGE. */
    public void addPkey(int pkey) {
        pkeys.add(pkey);
        hca.portEvent(IbEventType.PKEY_CHANGE, number);
    }

    /** An entry of the GID table; null behind its end. */
    public @Nullable IbGid gid(int index) {
        return index >= 0 && index < gids.size() ? gids.get(index) : null;
    }

    /** An entry of the P_Key table; -1 behind its end. */
    public int pkey(int index) {
        return index >= 0 && index < pkeys.size() ? pkeys.get(index) : -1;
    }

    boolean owns(IbGid gid) {
        return gids.contains(gid);
    }

    IbGid sgid(IbAhAttr.@Nullable Route route) {
        IbGid own = gid(route == null ? 0 : route.sgidIndex());
        return own == null ? new IbGid(0, 0) : own;
    }

    IbPortAttr attr() {
        return new IbPortAttr(active, MTU, lid, smLid, gids.size(), pkeys.size());
    }
}
