package dev.verbscope.analyzer.ledger;

/** What consumers say of their posts in the kernel log: {@code name: ... post_recv ... ret=-12} and the like. */
final class ConsumerLog {
    private ConsumerLog() {}

    /**
     * The error that a line says a post returned.
     *
     * @return a negative errno, 0 if the line does not speak of a failed post or does not tell its error
     */
    static int postError(String text) {
        if (!text.contains("post_recv") && !text.contains("post recv")) {
            return 0;
        }
        for (String mark : new String[] {"ret=-", "rc=-", "err=-", "error=-", "ret -", "rc -", ": -"}) {
            int at = text.indexOf(mark);
            if (at >= 0) {
                int value = 0;
                int i = at + mark.length();
                while (i < text.length() && Character.isDigit(text.charAt(i)) && value < 10_000) {
                    value = value * 10 + (text.charAt(i++) - '0');
                }
                if (value > 0 && value < 4096) {
                    return -value;
                }
            }
        }
        return 0;
    }

    /** Who speaks: the word before the first colon behind the time stamp, empty if there is none. */
    static String speaker(String text) {
        String line = text.strip();
        if (line.startsWith("[")) {
            line = line.substring(line.indexOf(']') + 1).strip();
        }
        int colon = line.indexOf(':');
        return colon > 0 && line.substring(0, colon).indexOf(' ') < 0 ? line.substring(0, colon) : "";
    }
}
