package dev.verbscope.analyzer.verbs;

/**
 * A lasting reference to one event of the input, enough to find it again and to show it.
 *
 * @param ordinal number of the event in the input, from 1
 * @param time nanoseconds, or raw clock units
 * @param cpu CPU number, -1 where not told
 * @param pid kernel thread id
 * @param comm task name
 * @param event name of the raw event
 * @param detail what happened, in the terms of the field
 */
public record EventRef(long ordinal, long time, int cpu, int pid, String comm, String event, String detail) {}
