package dev.verbscope.kmodel.hca;

import dev.verbscope.kmodel.verbs.IbMr;
import dev.verbscope.kmodel.verbs.IbMw;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbQp;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Keys that a peer may use: those of MRs with remote access, and those of windows. */
final class RemoteKeys {
    private final Map<Integer, IbMr> regions;
    private final Map<Integer, IbMw> windows = new HashMap<>();

    RemoteKeys(Map<Integer, IbMr> regions) {
        this.regions = regions;
    }

    void add(IbMw mw, int key) {
        windows.put(key, mw);
    }

    void remove(IbMw mw) {
        windows.values().removeIf(w -> w == mw);
    }

    @Nullable
    IbMw window(int rkey) {
        return windows.get(rkey);
    }

    private static boolean ofPd(@Nullable IbPd key, @Nullable IbPd qp) {
        return key == null || qp == null || key == qp;
    }

    /** The MR behind a key that allows this to the peer of a QP; null if it does not. */
    @Nullable
    IbMr find(IbQp qp, int rkey, long addr, long bytes, int access) {
        IbMw mw = windows.get(rkey);
        if (mw != null) {
            IbMw.Bind b = mw.bound;
            boolean may = b != null
                    && ofPd(mw.pd, qp.pd)
                    && (mw.type == IbMw.Type.TYPE_1 || mw.qp == qp)
                    && (b.access() & access) == access
                    && addr - b.addr() >= 0
                    && addr - b.addr() <= b.length() - bytes
                    && b.mr().covers(addr, bytes);
            return may && b != null ? b.mr() : null;
        }
        IbMr mr = regions.get(rkey);
        boolean may = mr != null && ofPd(mr.pd, qp.pd) && (mr.access & access) == access && mr.covers(addr, bytes);
        return may ? mr : null;
    }
}
