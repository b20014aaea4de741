package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.knowledge.Pages;
import java.util.List;

/** A source of pages for {@code verbscope explain}: add one to the list in {@link ExplainCommand} for a new kind of topic. */
interface ExplainPages {
    /** What the topics are, as a heading. */
    String kind();

    /** The topics it can explain, for the list. */
    List<String> topics();

    /**
     * The pages of what a user typed, none if this source does not know it.
     *
     * @param topic as typed, words joined by single blanks
     */
    List<Pages.Page> pages(String topic);
}
