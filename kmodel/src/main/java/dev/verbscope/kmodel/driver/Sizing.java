package dev.verbscope.kmodel.driver;

import dev.verbscope.kmodel.verbs.IbDeviceAttr;
import dev.verbscope.kmodel.verbs.IbQpCap;

/** What a driver makes of the caps it is asked for (KERNEL_FACTS.md 4.1). */
public interface Sizing {
    /**
     * What was made.
     *
     * @param ret 0, or the negated errno with which the device refuses
     * @param slots WRs the ring takes before it is full
     * @param maxSge SGEs a WR may have: the number in the driver's check
     * @param wqeBytes bytes of a WQE
     * @param writtenBack what the caller finds in its caps
     */
    record Grant(int ret, int slots, int maxSge, int wqeBytes, IbQpCap writtenBack) {
        /** A refusal. */
        static Grant refused(int ret, IbQpCap asked) {
            return new Grant(ret, 0, 0, 0, asked);
        }

        /** Bytes of the whole ring. */
        public long ringBytes() {
            return (long) slots * wqeBytes;
        }
    }

    /**
     * Sizes a ring.
     *
     * @param asked what the caller wants, at least 0 each
     * @param attrs what the device can do
     */
    Grant of(IbQpCap asked, IbDeviceAttr attrs);

    /** The smallest power of two not below a number; 1 for 0. */
    static int powerOfTwo(int n) {
        return n <= 1 ? 1 : Integer.highestOneBit(n - 1) << 1;
    }
}
