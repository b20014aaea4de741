package dev.verbscope.analyzer.ledger;

import dev.verbscope.analyzer.verbs.Errno;

/** What consumers say in the kernel log of their posts and of their buffers: {@code name: ... post_recv ... ret=-12}. */
final class ConsumerLog {
    private static final String[] REFILL = {"refill", "replenish", "recv buffer", "receive buffer", "rx buffer", "pool"
    };
    private static final String[] MARKS = {
        "ret=-", "rc=-", "err=-", "error=-", "errno=-", "ret -", "rc -", "error -", ": -"
    };

    private ConsumerLog() {}

    /**
     * The error that a line says the consumer's own refill or pool gave: no post was tried.
     *
     * @return -ENOMEM or -EAGAIN, 0 if the line speaks of something else
     */
    static int refillError(String text) {
        boolean refill = false;
        for (String word : REFILL) {
            refill |= text.contains(word);
        }
        if (!refill || text.contains("post_recv") || text.contains("post recv")) {
            return 0;
        }
        int value = errorIn(text);
        if (value == 0) {
            value = text.contains("-ENOMEM") ? -Errno.ENOMEM : text.contains("-EAGAIN") ? -Errno.EAGAIN : 0;
        }
        return value == -Errno.ENOMEM || value == -Errno.EAGAIN ? value : 0;
    }

    /**
     * The error that a line says a post returned.
     *
     * @return a negative errno, 0 if the line does not speak of a failed post or does not tell its error
     */
    static int postError(String text) {
        if (!text.contains("post_recv") && !text.contains("post recv")) {
            return 0;
        }
        return errorIn(text);
    }

    /** The negative errno that a line shows behind one of the usual marks, 0 if it shows none. */
    private static int errorIn(String text) {
        for (String mark : MARKS) {
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
