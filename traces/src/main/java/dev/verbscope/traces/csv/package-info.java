/**
 * Events as comma-separated values, in and out (RFC 4180, UTF-8).
 *
 * <p>One row an event, in the order of the input, below a header with these columns:
 *
 * <ul>
 *   <li>{@code time_ns}: nanoseconds of the trace clock; or {@code time_ticks}, where the clock has no seconds
 *   <li>{@code cpu}, {@code pid}: decimal, empty where not told
 *   <li>{@code comm}: the task's name
 *   <li>{@code flags}: the column of context flags as tracefs prints it, such as {@code d.s1.}; empty where not told
 *   <li>{@code system}, {@code event}: group and name of the event; the group is empty where the input does not tell it
 *   <li>{@code fields}: the fields of a known format as {@code name=value}, numbers in decimal or with 0x, texts with blanks
 *       in quotes, arrays as {@code {0x1,0x2}}; empty where the format is not known
 *   <li>{@code payload}: the text behind the event's name
 * </ul>
 *
 * <p>Marks are rows too: event {@code [LOST]} with the number of missing events as payload (empty if not told), and
 * {@code [CPU_STARTED]}.
 */
@NullMarked
package dev.verbscope.traces.csv;

import org.jspecify.annotations.NullMarked;
