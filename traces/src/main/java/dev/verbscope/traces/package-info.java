/** What a trace is: events, readers and writers of kernel trace captures. Knows nothing of RDMA. */
@NullMarked
package dev.verbscope.traces;

import org.jspecify.annotations.NullMarked;
