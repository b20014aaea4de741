package dev.verbscope.traces.tracecmd;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Names of tasks by kernel thread id, from the kernel's saved_cmdlines: lines of {@code pid name}. */
final class TaskNames {
    private static final String UNKNOWN = "<...>";
    private static final String IDLE = "<idle>";

    private final int[] pids;
    private final String[] names;

    private record Task(int pid, String name) {}

    TaskNames(byte[] savedCmdlines) {
        List<Task> tasks = new ArrayList<>();
        int at = 0;
        while (at < savedCmdlines.length && savedCmdlines[at] != 0) {
            int end = at;
            while (end < savedCmdlines.length && savedCmdlines[end] != '\n' && savedCmdlines[end] != 0) {
                end++;
            }
            int pid = 0;
            int i = at;
            while (i < end && savedCmdlines[i] >= '0' && savedCmdlines[i] <= '9' && i - at < 10) {
                pid = pid * 10 + savedCmdlines[i++] - '0';
            }
            if (i > at && i < end && savedCmdlines[i] == ' ') {
                tasks.add(new Task(pid, new String(savedCmdlines, i + 1, end - i - 1, StandardCharsets.UTF_8)));
            }
            at = end + 1;
        }
        tasks.sort((a, b) -> Integer.compare(a.pid, b.pid));
        pids = new int[tasks.size()];
        names = new String[tasks.size()];
        for (int k = 0; k < pids.length; k++) {
            pids[k] = tasks.get(k).pid;
            names[k] = tasks.get(k).name;
        }
    }

    /** The task's name; {@code <...>} where the kernel did not keep it, {@code <idle>} for 0, as the kernel prints. */
    String name(int pid) {
        if (pid == 0) {
            return IDLE;
        }
        int low = 0;
        int high = pids.length - 1;
        while (low <= high) {
            int mid = (low + high) >>> 1;
            if (pids[mid] < pid) {
                low = mid + 1;
            } else if (pids[mid] > pid) {
                high = mid - 1;
            } else {
                return names[mid];
            }
        }
        return UNKNOWN;
    }
}
