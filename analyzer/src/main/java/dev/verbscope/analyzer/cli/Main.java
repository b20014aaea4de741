package dev.verbscope.analyzer.cli;

import dev.verbscope.traces.event.TraceFormatException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Entry point of the {@code verbscope} command. */
@Command(
        name = "verbscope",
        description = "Tells why the kernel's RDMA receive path misbehaves, from a capture of a real machine.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:nothing at warning or above",
            "1:findings",
            "2:bad input or usage",
            "3:the capture does not hold enough to tell",
            "70:internal error"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbscope analyze trace.txt",
            "  verbscope analyze --format json - < /sys/kernel/tracing/trace",
            "  verbscope info trace.txt",
            "  verbscope simulate leak-one-in-five | verbscope analyze -"
        })
public final class Main implements Runnable {
    /** Exit code for bad input or usage. */
    static final int EXIT_BAD_INPUT = 2;

    /** Exit code for a fault of the tool itself. */
    static final int EXIT_INTERNAL = 70;

    /** The commands by name, in the order in which the help lists them. */
    private static final Map<String, Class<?>> COMMANDS = commands();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandLine.Model.CommandSpec spec;

    @Option(
            names = "--debug",
            scope = CommandLine.ScopeType.INHERIT,
            description = "Print a stack trace with an error.")
    private boolean debug;

    /** The version of the jar. */
    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"verbscope " + version()};
        }
    }

    /** The version of the jar. */
    static String version() {
        String version = Main.class.getPackage().getImplementationVersion();
        return version == null ? "(not packaged)" : version;
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Missing command");
    }

    private static Map<String, Class<?>> commands() {
        Map<String, Class<?>> commands = new LinkedHashMap<>();
        commands.put("analyze", AnalyzeCommand.class);
        commands.put("info", InfoCommand.class);
        commands.put("diff", DiffCommand.class);
        commands.put("chart", ChartCommand.class);
        commands.put("convert", ConvertCommand.class);
        commands.put("probe", ProbeCommand.class);
        commands.put("doctor", DoctorCommand.class);
        commands.put("anonymise", AnonymiseCommand.class);
        commands.put("simulate", SimulateCommand.class);
        commands.put("profiles", ProfilesCommand.class);
        commands.put("explain", ExplainCommand.class);
        commands.put("chart", ChartCommand.class);
        commands.put("generate-completion", AutoComplete.GenerateCompletion.class);
        return commands;
    }

    /** A command line ready to run any command. */
    static CommandLine commandLine() {
        return commandLine(COMMANDS);
    }

    /**
     * A command line ready to run these arguments. Where they begin with a command's name, only that command is set up:
     * the others' options are a third of the time that a small capture takes.
     */
    static CommandLine commandLineFor(String... args) {
        Class<?> named = args.length == 0 ? null : COMMANDS.get(args[0]);
        boolean alone = named != null && named != AutoComplete.GenerateCompletion.class;
        return commandLine(alone ? Map.of(args[0], named) : COMMANDS);
    }

    private static CommandLine commandLine(Map<String, Class<?>> commands) {
        Main main = new Main();
        CommandLine line = new CommandLine(main);
        commands.forEach(line::addSubcommand);
        line.setCaseInsensitiveEnumValuesAllowed(true);
        // so that "explain -12" is an errno and no option
        CommandLine explain = line.getSubcommands().get("explain");
        if (explain != null) {
            explain.setUnmatchedOptionsArePositionalParams(true);
        }
        line.setExecutionExceptionHandler((exception, cmd, parsed) -> main.failed(exception, cmd));
        return line;
    }

    private int failed(Exception exception, CommandLine cmd) {
        if (debug) {
            exception.printStackTrace(cmd.getErr());
        }
        if (exception instanceof IOException io) {
            cmd.getErr().println("verbscope: " + message(io));
            return EXIT_BAD_INPUT;
        }
        cmd.getErr()
                .println("verbscope: internal error: " + exception
                        + (debug ? "" : "; run again with --debug and report it with what is printed"));
        return EXIT_INTERNAL;
    }

    private static String message(IOException exception) {
        String text = exception.getMessage();
        if (exception instanceof TraceFormatException && text != null) {
            return text;
        }
        if (exception instanceof NoSuchFileException) {
            return text + ": no such file";
        }
        if (exception instanceof AccessDeniedException) {
            return text + ": permission denied";
        }
        return text == null ? exception.toString() : text;
    }

    /** Runs the command line and exits with its code. */
    public static void main(String[] args) {
        System.setProperty("java.awt.headless", "true");
        System.exit(commandLineFor(args).execute(args));
    }
}
