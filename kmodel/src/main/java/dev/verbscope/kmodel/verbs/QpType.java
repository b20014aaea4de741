package dev.verbscope.kmodel.verbs;

/** {@code enum ib_qp_type} (KERNEL_FACTS.md section 7), as far as the state table knows the types. */
public enum QpType {
    SMI(0),
    GSI(1),
    RC(2),
    UC(3),
    UD(4),
    RAW_PACKET(8),
    XRC_INI(9),
    XRC_TGT(10);

    private final int number;

    QpType(int number) {
        this.number = number;
    }

    /** The value in the kernel. */
    public int number() {
        return number;
    }
}
