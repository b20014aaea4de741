package dev.verbscope.kmodel.scenario;

import dev.verbscope.kmodel.consumer.ModuleConfig;
import dev.verbscope.kmodel.hca.Peer;
import java.util.List;
import java.util.Map;

/**
 * One scenario: a device, a QP, a consumer, a peer that sends, faults, and what an analyzer must find.
 *
 * @param source the file it was read from, for messages
 * @param name short name
 * @param title one line for lists
 * @param about what it shows
 * @param profile the kernel profile it runs under unless another is given
 * @param seed the seed unless another is given
 * @param device the device
 * @param consumer the receive module
 * @param traffic what the peer sends
 * @param expect rules that an analyzer must report at warning or above, by profile name; {@code default} for the others
 */
public record Scenario(
        String source,
        String name,
        String title,
        String about,
        String profile,
        long seed,
        Device device,
        ModuleConfig consumer,
        Peer.Traffic traffic,
        Map<String, List<String>> expect) {
    /** Key in {@link #expect} for profiles not named. */
    public static final String DEFAULT = "default";

    /**
     * The device.
     *
     * @param driver name of the driver
     * @param maxRecvSge SGEs a receive WR the device can do
     * @param maxQpWr deepest ring the device can do
     * @param softwareLkeyCheck whether the driver checks keys while it fills a WQE
     */
    public record Device(String driver, int maxRecvSge, int maxQpWr, boolean softwareLkeyCheck) {}

    /** Copies the collections. */
    public Scenario {
        expect = Map.copyOf(expect);
    }

    /** Rules that an analyzer must report at warning or above under a profile, and no others. */
    public List<String> expected(String profileName) {
        List<String> rules = expect.get(profileName);
        return rules != null ? rules : expect.getOrDefault(DEFAULT, List.of());
    }
}
