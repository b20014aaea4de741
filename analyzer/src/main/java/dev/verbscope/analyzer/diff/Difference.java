package dev.verbscope.analyzer.diff;

/**
 * One thing that is different.
 *
 * @param kind what sort of thing
 * @param weight what it means to somebody who upgrades
 * @param subject the queue, event or scenario it is about
 * @param title one line
 * @param a what the first side has
 * @param b what the second side has
 * @param why why it matters
 */
public record Difference(Kind kind, Weight weight, String subject, String title, String a, String b, String why) {
    /** What sort of thing is different. */
    public enum Kind {
        /** What posts and completions came to. */
        BEHAVIOUR("behaviour"),
        /** How many WRs a call had. */
        BATCH("batch"),
        /** How fast things went. */
        PACE("pace"),
        /** In which context work was done. */
        CONTEXT("context"),
        /** What code is written against. */
        INTERFACE("interface"),
        /** Which events there are, and their fields. */
        EVENTS("events"),
        /** Numbers and spellings that moved. */
        NUMBERING("numbering"),
        /** How the captures were taken: not a fact about the kernels. */
        CAPTURE("capture");

        private final String label;

        Kind(String label) {
            this.label = label;
        }

        /** The name in reports. */
        public String label() {
            return label;
        }
    }

    /** What a difference means to somebody who upgrades from the first to the second. */
    public enum Weight {
        /** Something that worked fails. */
        BREAKS("breaks"),
        /** Something works in another way. */
        CHANGES("changes"),
        /** Good to know. */
        NOTE("note");

        private final String label;

        Weight(String label) {
            this.label = label;
        }

        /** The name in reports. */
        public String label() {
            return label;
        }
    }
}
