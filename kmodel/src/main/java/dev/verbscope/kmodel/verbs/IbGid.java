package dev.verbscope.kmodel.verbs;

/**
 * {@code union ib_gid}: 128 bits.
 *
 * @param prefix the upper half: subnet prefix
 * @param id the lower half: interface id
 */
public record IbGid(long prefix, long id) {
    private static final int MULTICAST = 0xff;

    /** Whether it names a multicast group: it begins with ff. */
    public boolean multicast() {
        return prefix >>> 56 == MULTICAST;
    }

    @Override
    public String toString() {
        return String.format(
                "%04x:%04x:%04x:%04x:%04x:%04x:%04x:%04x",
                prefix >>> 48,
                (prefix >>> 32) & 0xffff,
                (prefix >>> 16) & 0xffff,
                prefix & 0xffff,
                id >>> 48,
                (id >>> 32) & 0xffff,
                (id >>> 16) & 0xffff,
                id & 0xffff);
    }
}
