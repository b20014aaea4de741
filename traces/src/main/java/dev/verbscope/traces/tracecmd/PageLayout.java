package dev.verbscope.traces.tracecmd;

/**
 * Where things are in a ring-buffer page, from the kernel's {@code events/header_page}.
 *
 * @param pageSize bytes of a page, header included
 * @param commitOffset offset of the commit word
 * @param commitSize bytes of the commit word: the kernel's long
 * @param dataOffset offset of the first event
 * @param bigEndian byte order
 */
record PageLayout(int pageSize, int commitOffset, int commitSize, int dataOffset, boolean bigEndian) {}
