package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.sim.DeterministicRandom;
import dev.verbscope.kmodel.sim.Simulator;
import dev.verbscope.kmodel.verbs.IbAhAttr;
import dev.verbscope.kmodel.verbs.IbGid;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The switch between ports, which may be of several modelled machines that share one {@link Simulator}. It gives out
 * LIDs and GIDs as a subnet manager does, takes its time, and loses messages if it is told to.
 */
public final class Fabric {
    private static final long LINK_LOCAL = 0xfe80L << 48;
    private static final long GUID = 0x0002c90300000000L;
    private static final int SM_LID = 1;
    private static final int PER_MILLE = 1000;

    private final Simulator sim;
    private final DeterministicRandom random;
    private final long wireNanos;
    private final List<HcaPort> ports = new ArrayList<>();
    private int lossPerMille;
    private long lost;

    /**
     * @param wireNanos from one port to another
     */
    public Fabric(Simulator sim, long wireNanos) {
        this.sim = sim;
        this.random = sim.random().split();
        this.wireNanos = wireNanos;
    }

    /** Plugs every port of a device in. */
    public void plug(Hca hca) {
        for (HcaPort port : hca.ports()) {
            int n = ports.size() + 1;
            ports.add(port);
            port.plug(this, SM_LID + n, SM_LID, new IbGid(LINK_LOCAL, GUID + n));
        }
    }

    /** Loses so many of a thousand messages and answers, by chance. */
    public void lose(int perMille) {
        lossPerMille = perMille;
    }

    /** Messages and answers lost so far. */
    public long lost() {
        return lost;
    }

    boolean loses() {
        if (lossPerMille > 0 && random.between(0, PER_MILLE - 1) < lossPerMille) {
            lost++;
            return true;
        }
        return false;
    }

    /** The port at the end of a way; null if there is none, or the cable is out. */
    @Nullable
    HcaPort route(IbAhAttr way) {
        IbAhAttr.Route route = way.grh();
        for (HcaPort port : ports) {
            boolean there = route == null ? port.lid() == way.dlid() && way.dlid() != 0 : port.owns(route.dgid());
            if (there && port.active()) {
                return port;
            }
        }
        return null;
    }

    List<HcaPort> all() {
        return ports;
    }

    /** Runs an action at the other end. */
    void carry(Hca to, Runnable action) {
        sim.after(wireNanos, to.completionTask(), action);
    }
}
