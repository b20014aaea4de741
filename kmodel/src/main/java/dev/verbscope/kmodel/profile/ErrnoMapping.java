package dev.verbscope.kmodel.profile;

/** What the post wrapper makes of a driver's error. */
public enum ErrnoMapping {
    /** The caller gets the driver's own value. Every mainline kernel. */
    NONE,
    /** Every driver error becomes -ENOMEM. The article's newer forms (2.5); no mainline kernel. */
    ALL_TO_ENOMEM
}
