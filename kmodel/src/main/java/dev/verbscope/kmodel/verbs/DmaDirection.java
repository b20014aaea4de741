package dev.verbscope.kmodel.verbs;

/** {@code enum dma_data_direction}. */
public enum DmaDirection {
    /** Both write. */
    BIDIRECTIONAL,
    /** The device reads. */
    TO_DEVICE,
    /** The device writes. */
    FROM_DEVICE;

    boolean deviceWrites() {
        return this != TO_DEVICE;
    }

    boolean deviceReads() {
        return this != FROM_DEVICE;
    }
}
