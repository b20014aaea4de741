package dev.verbscope.kmodel.trace;

import java.util.ArrayList;
import java.util.List;

/** The functions of the modelled kernel that can be probed or that call probed ones, with their addresses. */
public final class KernelText {
    /**
     * A place in a function.
     *
     * @param address the code address
     * @param function the function's name
     * @param text {@code function+0xoffset/0xsize [module]} as the kernel prints it ({@code %pS})
     */
    public record Place(long address, String function, String text) {}

    private static final int FUNCTION_ALIGN = 16;

    private final List<Place> places = new ArrayList<>();
    private final List<String> strings = new ArrayList<>();
    private final int entryOffset;
    private long nextAddress;

    /**
     * @param base where the first function lies; on x86-64 modules lie from 0xffffffffc0000000
     * @param entryOffset where in a function a probe at its entry sits: 4 behind an endbr64, else 0
     */
    public KernelText(long base, int entryOffset) {
        this.nextAddress = base;
        this.entryOffset = entryOffset;
    }

    private static String text(String name, int offset, int size, String module) {
        return name + "+0x" + Integer.toHexString(offset) + "/0x" + Integer.toHexString(size) + " [" + module + "]";
    }

    /** Adds a function and gives its entry, as a kprobe without an offset hits it. */
    public Place function(String name, int size, String module) {
        Place entry = new Place(nextAddress + entryOffset, name, text(name, entryOffset, size, module));
        places.add(entry);
        nextAddress += size + FUNCTION_ALIGN - 1 & -FUNCTION_ALIGN;
        return entry;
    }

    /** A return address inside a function that was added. */
    public Place inside(Place entry, int offset) {
        String text =
                entry.function + "+0x" + Integer.toHexString(offset) + entry.text.substring(entry.text.indexOf('/'));
        Place place = new Place(entry.address - entryOffset + offset, entry.function, text);
        places.add(place);
        return place;
    }

    /** A text that events carry by a number: addresses and names of other machines. The same text gets the same number. */
    public long string(String value) {
        int at = strings.indexOf(value);
        if (at < 0) {
            at = strings.size();
            strings.add(value);
        }
        return at;
    }

    /** The text of a number that {@link #string} gave. */
    String stringOf(long number) {
        return strings.get((int) number);
    }

    /** The printed form of an address, bare hex where no function is known there. */
    String describe(long address) {
        for (int i = 0; i < places.size(); i++) {
            Place p = places.get(i);
            if (p.address == address) {
                return p.text;
            }
        }
        return "0x" + Long.toHexString(address);
    }

    /** The bare name of the function at an address. */
    String functionOf(long address) {
        for (int i = 0; i < places.size(); i++) {
            Place p = places.get(i);
            if (p.address == address) {
                return p.function;
            }
        }
        return "0x" + Long.toHexString(address);
    }
}
