/** Reader of BTF, the type data that a kernel serves of itself and of its modules; knows no RDMA. */
@NullMarked
package dev.verbscope.traces.btf;

import org.jspecify.annotations.NullMarked;
