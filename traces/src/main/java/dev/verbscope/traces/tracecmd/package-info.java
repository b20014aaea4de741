/**
 * trace-cmd's {@code trace.dat}, versions 6 and 7 (documented by trace-cmd as trace-cmd.dat.v6(5) and
 * trace-cmd.dat.v7(5)), and the kernel's ring-buffer pages in it (kernel/trace/ring_buffer.c).
 */
@NullMarked
package dev.verbscope.traces.tracecmd;

import org.jspecify.annotations.NullMarked;
