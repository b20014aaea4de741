package dev.verbscope.kmodel.consumer;

/** State of a receive buffer, as the article advises to keep (3.3). */
public enum SlotState {
    /** Belongs to the module and holds nothing. */
    FREE,
    /** Belongs to the device. */
    POSTED,
    /** Holds a message and waits to be given back. */
    DONE
}
