package dev.verbscope.analyzer.cli;

import dev.verbscope.analyzer.probe.Anonymiser;
import dev.verbscope.analyzer.probe.BundleInput;
import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code verbscope anonymise}: a bundle without what tells of its owner. */
@Command(
        name = "anonymise",
        description = {
            "Replaces IP and MAC addresses and names of programs in a bundle, the same one the same way,",
            "and leaves out kernel messages. Look at the result before you send it."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  verbscope anonymise verbscope-mlx5_ib-20260101T120000Z.tar.gz send.tar.gz"})
final class AnonymiseCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "BUNDLE", description = "The bundle to read.")
    private Path bundle = Path.of("");

    @Parameters(index = "1", paramLabel = "OUT", description = "The bundle to write.")
    private Path out = Path.of("");

    @Override
    public Integer call() throws IOException {
        if (!Files.isRegularFile(bundle)) {
            throw new TraceFormatException(bundle.toString(), "", "no such file");
        }
        try (BundleInput in = BundleInput.open(bundle)) {
            Anonymiser.rewrite(in, out);
        }
        return 0;
    }
}
