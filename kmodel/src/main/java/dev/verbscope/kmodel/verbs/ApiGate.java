package dev.verbscope.kmodel.verbs;

import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.profile.KernelVersion;

/** Lets a consumer call what its kernel has. */
public final class ApiGate {
    private final KernelProfile profile;

    /** The functions of one kernel. */
    public ApiGate(KernelProfile profile) {
        this.profile = profile;
    }

    /**
     * Passes if the kernel has the function.
     *
     * @throws MissingFunction naming what to call instead, if it has not
     */
    public void call(String function) {
        ApiFunction f = ApiTable.of(function);
        if (!f.in(profile)) {
            throw new MissingFunction(f.absence(profile));
        }
    }

    /** Whether the profile is of this release or a later one; the article's profiles are of none. */
    public boolean atLeast(int major, int minor) {
        KernelVersion v = profile.version();
        return v != null && v.atLeast(major, minor);
    }

    /**
     * What the core returns where a driver has no such op: -ENOSYS in 3.6 and 4.4, -EOPNOTSUPP by 4.19 (the release in
     * between was not pinned), and under the article's profiles.
     */
    public int noOp() {
        return profile.version() != null && !atLeast(4, 19) ? -Errno.ENOSYS : -Errno.EOPNOTSUPP;
    }
}
