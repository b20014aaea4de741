package dev.verbscope.kmodel.verbs;

import java.util.Arrays;

/** A piece of kernel memory with its bytes, as {@link KernelMemory#kmalloc} gives it. */
public final class KernelBuffer {
    /** What freed memory is filled with: POISON_FREE of a debug kernel. */
    public static final byte POISON = 0x6b;

    private final KernelMemory memory;
    private final byte[] bytes;
    /** Kernel virtual address. */
    public final long address;

    private boolean freed;
    int mappings;
    int ownedByDevice;

    KernelBuffer(KernelMemory memory, long address, int size) {
        this.memory = memory;
        this.address = address;
        this.bytes = new byte[size];
    }

    /** Bytes. */
    public int size() {
        return bytes.length;
    }

    /** Whether it was given back. */
    public boolean freed() {
        return freed;
    }

    void free() {
        freed = true;
        Arrays.fill(bytes, POISON);
    }

    /**
     * The CPU reads. What it should not read is reported and read all the same, as on a real machine.
     *
     * @throws KernelOops behind the end
     */
    public byte[] read(int offset, int length) {
        touch(offset, length);
        return Arrays.copyOfRange(bytes, offset, offset + length);
    }

    /** The CPU reads all of it. */
    public byte[] read() {
        return read(0, bytes.length);
    }

    /**
     * The CPU writes.
     *
     * @throws KernelOops behind the end
     */
    public void write(int offset, byte... data) {
        touch(offset, data.length);
        System.arraycopy(data, 0, bytes, offset, data.length);
    }

    private void touch(int offset, int length) {
        if (offset < 0 || length < 0 || offset > bytes.length - length) {
            throw new KernelOops("BUG: unable to handle page fault: " + length + " bytes at offset " + offset + " of a "
                    + bytes.length + " byte buffer");
        }
        if (freed) {
            memory.fault(MemoryFault.CPU_USE_AFTER_FREE, address + offset, length);
        } else if (ownedByDevice > 0) {
            memory.fault(MemoryFault.CPU_TOUCHES_DEVICE_BUFFER, address + offset, length);
        }
    }

    void deviceRead(int offset, byte[] into, int at, int length) {
        System.arraycopy(bytes, offset, into, at, length);
    }

    void deviceWrite(int offset, byte[] from, int at, int length) {
        System.arraycopy(from, at, bytes, offset, length);
    }
}
