package dev.verbscope.kmodel.profile;

/** What a NULL {@code bad_recv_wr} comes to. */
public enum NullBadWr {
    /** The wrapper puts the address of a local variable in its place: harmless. Mainline from 4.19. */
    DUMMY,
    /** Passed on: whoever reports a failing WR writes through NULL, an oops. Mainline to 4.18. */
    PASSED_THROUGH
}
