/** The device: receive ring, doorbell, completion queue, responder, flush; and the peer at the other end of the wire. */
@NullMarked
package dev.verbscope.kmodel.hca;

import org.jspecify.annotations.NullMarked;
