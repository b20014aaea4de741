package dev.verbscope.analyzer.probe;

/** The checksum that POSIX {@code cksum} prints, so that a script can compare a file without more tools. */
final class Cksum {
    private static final int POLYNOMIAL = 0x04c11db7;
    private static final int[] TABLE = table();

    private Cksum() {}

    private static int[] table() {
        int[] table = new int[256];
        for (int i = 0; i < 256; i++) {
            int crc = i << 24;
            for (int bit = 0; bit < 8; bit++) {
                crc = crc < 0 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
            }
            table[i] = crc;
        }
        return table;
    }

    /** Unsigned 32 bits in a long. The length counts as more bytes, the lowest first, without leading zeros. */
    static long of(byte[] bytes) {
        int crc = 0;
        for (byte b : bytes) {
            crc = (crc << 8) ^ TABLE[((crc >>> 24) ^ b) & 0xff];
        }
        for (long length = bytes.length; length > 0; length >>= 8) {
            crc = (crc << 8) ^ TABLE[((crc >>> 24) ^ (int) length) & 0xff];
        }
        return ~crc & 0xffffffffL;
    }
}
