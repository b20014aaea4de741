package dev.verbscope.analyzer.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Entry point of the {@code verbscope} command. */
@Command(name = "verbscope", description = "Tells why the kernel's RDMA receive path misbehaves, from a capture.")
public final class Main implements Runnable {
    @Override
    public void run() {
        new CommandLine(this).usage(System.out);
    }

    /** Runs the command line and exits with its code. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Main()).execute(args));
    }
}
