package dev.verbscope.kmodel.hca;

/**
 * Slots of a queue that may be free again when a completion was polled. A class and not an interface: storing one in an
 * array is checked faster, and a CQ does that for every completion.
 */
abstract class QueueSlots {
    /** A completion of this queue was polled. */
    abstract void polled();
}
