package dev.verbscope.analyzer.probe;

import java.util.List;

/**
 * One probe: the line that defines it, and what its event will hold.
 *
 * @param kind name of the template it is made from
 * @param group the event's group
 * @param event the event's name, by which it is bound
 * @param exit whether it is on the function's return
 * @param module the function's module
 * @param symbol the function
 * @param required whether the capture makes no sense without it
 * @param file the tracefs file that takes the line
 * @param definition the line
 * @param fields what is fetched, in the order of the line
 */
record Probe(
        String kind,
        String group,
        String event,
        boolean exit,
        String module,
        String symbol,
        boolean required,
        String file,
        String definition,
        List<Fetch> fields) {}
