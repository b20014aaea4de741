package dev.verbscope.traces.print;

import dev.verbscope.traces.binary.RecordBytes;
import java.nio.charset.StandardCharsets;

/** What the kernel's extensions of %p print of bytes (lib/vsprintf.c, pointer(); Documentation/core-api/printk-formats.rst). */
final class PointerText {
    private static final byte[] INVALID = "(einval)".getBytes(StandardCharsets.US_ASCII);
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int SOCKADDR_IN = 8;
    private static final int SOCKADDR_IN6 = 24;
    private static final int WORDS = 8;

    private PointerText() {}

    /**
     * %pIS: a struct sockaddr.
     *
     * @param form the letters behind {@code IS}: p port, c compressed, f flow info, s scope
     */
    static void sockaddr(RecordBytes record, int at, int length, String form, TextBuffer out) {
        int family = at >= 0 && length >= 2 ? (int) record.number(at, 2, false) : 0;
        boolean port = form.indexOf('p') >= 0;
        if (family == AF_INET && length >= SOCKADDR_IN) {
            ip4(record, at + 4, false, out);
            if (port) {
                out.put(':');
                out.decimal(bigEndian16(record, at + 2));
            }
        } else if (family == AF_INET6 && length >= SOCKADDR_IN6) {
            boolean flow = form.indexOf('f') >= 0;
            boolean scope = form.indexOf('s') >= 0;
            boolean bracketed = port || flow || scope;
            if (bracketed) {
                out.put('[');
            }
            if (form.indexOf('c') >= 0) {
                ip6Compressed(record, at + 8, out);
            } else {
                ip6(record, at + 8, true, out);
            }
            if (bracketed) {
                out.put(']');
            }
            if (port) {
                out.put(':');
                out.decimal(bigEndian16(record, at + 2));
            }
            if (flow) {
                out.put('/');
                // IPV6_FLOWINFO_MASK
                out.decimal((bigEndian16(record, at + 4) << 16 & 0x0fff0000) | bigEndian16(record, at + 6));
            }
            if (scope) {
                out.put('%');
                out.decimal(record.number(at + 24, 4, false));
            }
        } else {
            out.put(INVALID);
        }
    }

    private static int bigEndian16(RecordBytes record, int at) {
        return record.byteAt(at) << 8 | record.byteAt(at + 1);
    }

    /** %pI4, or %pi4 with three digits each. */
    static void ip4(RecordBytes record, int at, boolean leadingZeros, TextBuffer out) {
        for (int i = 0; i < 4; i++) {
            if (i > 0) {
                out.put('.');
            }
            int b = record.byteAt(at + i);
            if (leadingZeros && b < 100) {
                out.put('0');
                if (b < 10) {
                    out.put('0');
                }
            }
            out.decimal(b);
        }
    }

    /** %pI6, or %pi6 without colons. */
    static void ip6(RecordBytes record, int at, boolean colons, TextBuffer out) {
        for (int i = 0; i < WORDS; i++) {
            if (i > 0 && colons) {
                out.put(':');
            }
            out.hex(bigEndian16(record, at + 2 * i), 4);
        }
    }

    /** %pI6c: the longest run of zero words as {@code ::}, an IPv4 address at the end where it holds one. */
    static void ip6Compressed(RecordBytes record, int at, TextBuffer out) {
        boolean mapped = record.number(at, 8, false) == 0
                && bigEndian16(record, at + 8) == 0
                && bigEndian16(record, at + 10) == 0xffff;
        // ISATAP: 0000:5efe or 0200:5efe in the third 32 bits
        boolean tunnel = (bigEndian16(record, at + 8) | 0x0200) == 0x0200 && bigEndian16(record, at + 10) == 0x5efe;
        boolean withIp4 = mapped || tunnel;
        int range = withIp4 ? WORDS - 2 : WORDS;
        int longest = 1;
        int start = -1;
        int run = 0;
        for (int i = 0; i < range; i++) {
            run = bigEndian16(record, at + 2 * i) == 0 ? run + 1 : 0;
            if (run > longest) {
                longest = run;
                start = i - run + 1;
            }
        }
        boolean colon = false;
        int i = 0;
        while (i < range) {
            if (i == start) {
                if (colon || i == 0) {
                    out.put(':');
                }
                out.put(':');
                colon = false;
                i += longest;
                continue;
            }
            if (colon) {
                out.put(':');
            }
            out.hex(bigEndian16(record, at + 2 * i), 1);
            colon = true;
            i++;
        }
        if (withIp4) {
            if (colon) {
                out.put(':');
            }
            ip4(record, at + 12, false, out);
        }
    }

    /** %pM and its forms. */
    static void mac(RecordBytes record, int at, String form, TextBuffer out) {
        int separator = form.startsWith("m") ? 0 : form.indexOf('F') > 0 ? '-' : ':';
        boolean reversed = form.indexOf('R') > 0;
        for (int i = 0; i < 6; i++) {
            if (i > 0 && separator != 0) {
                out.put(separator);
            }
            out.hexByte(record.byteAt(at + (reversed ? 5 - i : i)));
        }
    }

    /** %pU: b and B big endian, l and L little endian, capitals for upper case. */
    static void uuid(RecordBytes record, int at, String form, TextBuffer out) {
        boolean little = form.endsWith("l") || form.endsWith("L");
        boolean upper = form.endsWith("L") || form.endsWith("B");
        for (int i = 0; i < 16; i++) {
            int from = i;
            if (little && i < 4) {
                from = 3 - i;
            } else if (little && i < 8) {
                from = i ^ 1;
            }
            int b = record.byteAt(at + from);
            if (upper) {
                out.put(Character.toUpperCase(Character.forDigit(b >>> 4, 16)));
                out.put(Character.toUpperCase(Character.forDigit(b & 15, 16)));
            } else {
                out.hexByte(b);
            }
            if (i == 3 || i == 5 || i == 7 || i == 9) {
                out.put('-');
            }
        }
    }

    /** %*ph: up to 64 bytes. */
    static void hexString(RecordBytes record, int at, int bytes, String form, TextBuffer out) {
        int separator = form.length() < 2
                ? ' '
                : switch (form.charAt(1)) {
                    case 'C' -> ':';
                    case 'D' -> '-';
                    case 'N' -> 0;
                    default -> ' ';
                };
        int n = Math.min(bytes <= 0 ? 1 : bytes, 64);
        for (int i = 0; i < n && record.holds(at + i, 1); i++) {
            if (i > 0 && separator != 0) {
                out.put(separator);
            }
            out.hexByte(record.byteAt(at + i));
        }
    }

    /** Groups of 32 bits in hexadecimal, the highest first and as short as its bits allow. */
    static void bitmap(RecordBytes record, int at, long bits, TextBuffer out) {
        int words = (int) Math.min((bits + 31) / 32, record.length() / 4 + 1);
        int topBits = bits % 32 == 0 ? 32 : (int) (bits % 32);
        for (int w = words - 1; w >= 0; w--) {
            int used = w == words - 1 ? topBits : 32;
            long word = record.longSize() == 8 && record.bigEndian()
                    ? record.number(at + (w ^ 1) * 4, 4, false)
                    : word(record, at + w * 4, used);
            out.hex(word & (0xffff_ffffL >>> (32 - used)), (used + 3) / 4);
            if (w > 0) {
                out.put(',');
            }
        }
    }

    private static long word(RecordBytes record, int at, int used) {
        if (record.holds(at, 4)) {
            return record.number(at, 4, false);
        }
        long value = 0;
        for (int i = 0; i < (used + 7) / 8; i++) {
            value |= (long) record.byteAt(at + i) << (8 * i);
        }
        return value;
    }
}
