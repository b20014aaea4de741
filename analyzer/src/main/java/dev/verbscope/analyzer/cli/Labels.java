package dev.verbscope.analyzer.cli;

import java.nio.file.Path;
import java.util.List;

/** Short names of files. */
final class Labels {
    private Labels() {}

    /** The file's name, with as many folders in front as it takes to tell it from the other files. */
    static String of(String file, List<String> files) {
        Path path = Path.of(file).toAbsolutePath();
        for (int names = 1; names < path.getNameCount(); names++) {
            Path end = path.subpath(path.getNameCount() - names, path.getNameCount());
            long same = files.stream()
                    .filter(f -> Path.of(f).toAbsolutePath().endsWith(end))
                    .count();
            if (same <= 1) {
                return end.toString();
            }
        }
        return file;
    }
}
