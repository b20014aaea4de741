package dev.verbscope.analyzer.detect;

/**
 * A question the capture cannot answer.
 *
 * @param question the question
 * @param missing which event or field is missing
 * @param howToCapture how to have it next time
 */
public record Gap(String question, String missing, String howToCapture) {}
