package dev.verbscope.kmodel.scenario;

import dev.verbscope.kmodel.consumer.ModuleConfig;
import dev.verbscope.kmodel.driver.DriverCosts;
import dev.verbscope.kmodel.driver.DriverFacts;
import dev.verbscope.kmodel.driver.Drivers;
import dev.verbscope.kmodel.hca.Peer;
import dev.verbscope.kmodel.profile.KernelProfile;
import dev.verbscope.kmodel.verbs.IbDeviceAttr;
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
 * @param costs what things cost
 * @param consumer the receive module, on every QP that is not set up otherwise
 * @param traffic what the peer of such a QP sends
 * @param queues the QPs
 * @param timed faults that strike at a time
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
        DriverCosts costs,
        ModuleConfig consumer,
        Peer.Traffic traffic,
        Queues queues,
        List<TimedFault> timed,
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
     * @param clearsRingToRtr whether modify_qp to RTR drops what was posted before (article 4.4, C7)
     * @param holdsInErr whether a QP in ERR keeps what is posted and completes nothing (article 6.1, third)
     */
    public record Device(
            String driver,
            int maxRecvSge,
            int maxQpWr,
            boolean softwareLkeyCheck,
            boolean clearsRingToRtr,
            boolean holdsInErr) {
        /** A device that keeps its ring and flushes in ERR. */
        public Device(String driver, int maxRecvSge, int maxQpWr, boolean softwareLkeyCheck, boolean clearsRingToRtr) {
            this(driver, maxRecvSge, maxQpWr, softwareLkeyCheck, clearsRingToRtr, false);
        }
    }

    /**
     * The QPs of a scenario.
     *
     * @param each what each does
     * @param sharedCq whether all complete into one CQ
     * @param sharedQueue whether all take from one shared receive queue, which the scenario's consumer describes
     * @param srqLimit fill of the shared queue below which it raises its limit event; 0 for none
     */
    public record Queues(List<Queue> each, boolean sharedCq, boolean sharedQueue, int srqLimit) {
        /** Copies the list. */
        public Queues {
            each = List.copyOf(each);
            if (each.isEmpty()) {
                throw new IllegalArgumentException("no queue");
            }
        }

        /** One QP with its own queues. */
        public static Queues one(ModuleConfig consumer, Peer.Traffic traffic) {
            return new Queues(List.of(new Queue(consumer, traffic)), false, false, 0);
        }
    }

    /** One QP: its consumer and what its peer sends. */
    public record Queue(ModuleConfig consumer, Peer.Traffic traffic) {}

    /** A scenario of one QP. */
    public Scenario(
            String source,
            String name,
            String title,
            String about,
            String profile,
            long seed,
            Device device,
            DriverCosts costs,
            ModuleConfig consumer,
            Peer.Traffic traffic,
            List<TimedFault> timed,
            Map<String, List<String>> expect) {
        this(
                source,
                name,
                title,
                about,
                profile,
                seed,
                device,
                costs,
                consumer,
                traffic,
                Queues.one(consumer, traffic),
                timed,
                expect);
    }

    /** Copies the collections. */
    public Scenario {
        timed = List.copyOf(timed);
        expect = Map.copyOf(expect);
    }

    /**
     * The same scenario on a usual device of another driver.
     *
     * @throws IllegalArgumentException if the kernel of a profile does not have that driver
     */
    public Scenario withDriver(String driver, KernelProfile kernel) {
        IbDeviceAttr attrs = Drivers.of(driver, kernel)
                .orElseThrow(() -> new IllegalArgumentException(kernel.name() + " has no driver " + driver + "; it has "
                        + Drivers.all(kernel).stream().map(DriverFacts::name).toList()))
                .attrs();
        return new Scenario(
                source,
                name,
                title,
                about,
                profile,
                seed,
                new Device(
                        driver,
                        attrs.maxRecvSge(),
                        attrs.maxQpWr(),
                        device.softwareLkeyCheck,
                        device.clearsRingToRtr,
                        device.holdsInErr),
                costs,
                consumer,
                traffic,
                queues,
                timed,
                expect);
    }

    /** Rules that an analyzer must report at warning or above under a profile, and no others. */
    public List<String> expected(String profileName) {
        List<String> rules = expect.get(profileName);
        return rules != null ? rules : expect.getOrDefault(DEFAULT, List.of());
    }
}
