package dev.verbscope.kmodel.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbscope.kmodel.example.Machine;
import dev.verbscope.kmodel.hca.HcaPort;
import dev.verbscope.kmodel.verbs.Access;
import dev.verbscope.kmodel.verbs.Clients;
import dev.verbscope.kmodel.verbs.Errno;
import dev.verbscope.kmodel.verbs.IbAh;
import dev.verbscope.kmodel.verbs.IbAhAttr;
import dev.verbscope.kmodel.verbs.IbDevice;
import dev.verbscope.kmodel.verbs.IbDeviceAttr;
import dev.verbscope.kmodel.verbs.IbError;
import dev.verbscope.kmodel.verbs.IbEvent;
import dev.verbscope.kmodel.verbs.IbEventHandler;
import dev.verbscope.kmodel.verbs.IbEventType;
import dev.verbscope.kmodel.verbs.IbGid;
import dev.verbscope.kmodel.verbs.IbGrh;
import dev.verbscope.kmodel.verbs.IbPd;
import dev.verbscope.kmodel.verbs.IbPortAttr;
import dev.verbscope.kmodel.verbs.IbWc;
import dev.verbscope.kmodel.verbs.KernelOops;
import dev.verbscope.kmodel.verbs.LinkLayer;
import dev.verbscope.kmodel.verbs.MemoryFault;
import dev.verbscope.kmodel.verbs.MissingFunction;
import dev.verbscope.kmodel.verbs.Ports;
import dev.verbscope.kmodel.verbs.QpType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** G1 to G6: clients, events, ports and their tables, protection domains, address handles. */
class ObjectsTest {
    private static final IbGid FOREIGN = new IbGid(1, 2);

    private final Pair pair = Pair.sheet();
    private final Machine m = pair.a;

    /** A client that writes down what it is told. */
    private static final class Log implements Clients.Client {
        final List<String> lines = new ArrayList<>();
        int answer;

        @Override
        public String name() {
            return "log";
        }

        @Override
        public int add(IbDevice device) {
            lines.add("add " + device.name());
            return answer;
        }

        @Override
        public void remove(IbDevice device, @Nullable Object data) {
            lines.add("remove " + device.name() + " " + data);
        }
    }

    private static <T> T value(Ports.Out<T> out) {
        T v = out.value;
        assertThat(v).isNotNull();
        return java.util.Objects.requireNonNull(v);
    }

    @Test
    @Covers("ib_register_client")
    @Covers("ib_unregister_client")
    @Covers("ib_set_client_data")
    @Covers("ib_get_client_data")
    void aClientIsToldOfEveryDeviceAndGetsItsDataBack() {
        Machine machine = Pair.under("6.1", "rxe").a;
        Log log = new Log();
        assertThat(machine.api.clients.ibRegisterClient(log)).isZero();
        machine.api.clients.ibSetClientData(machine.device, log, "mine");
        assertThat(machine.api.clients.ibGetClientData(machine.device, log)).isEqualTo("mine");
        IbDevice later = new IbDevice("rxe_1", machine.device.attrs(), machine.driver);
        machine.api.clients.deviceAdded(later);
        machine.api.clients.deviceRemoved(later);
        machine.api.clients.ibUnregisterClient(log);
        assertThat(log.lines).containsExactly("add rxe_0", "add rxe_1", "remove rxe_1 null", "remove rxe_0 mine");
    }

    @Test
    @Covers(value = "ib_register_client", outcome = "add error")
    @Covers(value = "ib_get_client_data", outcome = "NULL")
    @Covers(value = "ib_set_client_data", outcome = "ignored")
    void from58AClientThatDeclinesADeviceHasItNot() {
        for (String version : List.of("4.19", "5.10", "6.12")) {
            Machine machine = Pair.under(version, "rxe").a;
            Log log = new Log();
            log.answer = -Errno.ENODEV;
            assertThat(machine.api.clients.ibRegisterClient(log)).isZero();
            assertThat(machine.api.clients.ibGetClientData(machine.device, log)).isNull();
            machine.api.clients.ibSetClientData(machine.device, log, "mine");
            boolean bound = version.equals("4.19");
            assertThat(machine.api.clients.ibGetClientData(machine.device, log)).isEqualTo(bound ? "mine" : null);
            machine.api.clients.ibUnregisterClient(log);
            assertThat(log.lines).hasSize(bound ? 2 : 1);
        }
    }

    @Test
    @Covers("ib_register_event_handler")
    @Covers("ib_unregister_event_handler")
    void eventsOfThePortsComeUntilTheHandlerIsGone() {
        List<IbEvent> seen = new ArrayList<>();
        IbEventHandler handler = new IbEventHandler(m.device, seen::add);
        assertThat(m.api.events.ibRegisterEventHandler(handler)).isZero();
        HcaPort port = m.driver.hca().port(1);
        port.up(false);
        port.up(true);
        port.lid(77);
        port.addPkey(0x8001);
        port.addGid(FOREIGN);
        m.driver.hca().breakDown();
        assertThat(seen)
                .extracting(IbEvent::type)
                .containsExactly(
                        IbEventType.PORT_ERR,
                        IbEventType.PORT_ACTIVE,
                        IbEventType.LID_CHANGE,
                        IbEventType.PKEY_CHANGE,
                        IbEventType.GID_CHANGE,
                        IbEventType.DEVICE_FATAL);
        assertThat(seen.get(0).port()).isEqualTo(1);
        assertThat(m.api.events.ibUnregisterEventHandler(handler)).isZero();
        port.up(false);
        assertThat(seen).hasSize(6);
    }

    @Test
    @Covers(value = "ib_register_event_handler", outcome = "oops")
    @Covers(value = "ib_unregister_event_handler", outcome = "oops")
    void aHandlerOnTheListTwiceOrNotAtAllBreaksTheList() {
        IbEventHandler handler = new IbEventHandler(m.device, e -> {});
        assertThatThrownBy(() -> m.api.events.ibUnregisterEventHandler(handler))
                .isInstanceOf(KernelOops.class)
                .hasMessageContaining("list_del");
        m.api.events.ibRegisterEventHandler(handler);
        assertThatThrownBy(() -> m.api.events.ibRegisterEventHandler(handler))
                .isInstanceOf(KernelOops.class)
                .hasMessageContaining("list_add");
    }

    @Test
    @Covers("ib_query_device")
    @Covers("ib_query_port")
    @Covers("rdma_port_get_link_layer")
    void deviceAndPortTellWhatTheyAre() {
        Ports.Out<IbDeviceAttr> attr = new Ports.Out<>();
        assertThat(m.api.ports.ibQueryDevice(m.device, attr)).isZero();
        assertThat(value(attr).maxCqe()).isEqualTo(65536);
        Ports.Out<IbPortAttr> port = new Ports.Out<>();
        assertThat(m.api.ports.ibQueryPort(m.device, 1, port)).isZero();
        assertThat(value(port)).isEqualTo(new IbPortAttr(true, 4096, 2, 1, 1, 1));
        assertThat(m.api.ports.rdmaPortGetLinkLayer(m.device, 1)).isEqualTo(LinkLayer.INFINIBAND);
        Machine rxe = Pair.under("6.12", "rxe").a;
        assertThat(rxe.api.ports.rdmaPortGetLinkLayer(rxe.device, 1)).isEqualTo(LinkLayer.ETHERNET);
        assertThat(rxe.api.ports.ibQueryPort(rxe.device, 1, port)).isZero();
        assertThat(value(port).lid()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 2, 255})
    @Covers(value = "ib_query_port", outcome = "-EINVAL")
    @Covers(value = "rdma_port_get_link_layer", outcome = "UNSPECIFIED")
    @Covers(value = "ib_query_gid", outcome = "-EINVAL")
    @Covers(value = "ib_query_pkey", outcome = "-EINVAL")
    @Covers(value = "rdma_query_gid", outcome = "-EINVAL")
    void aPortThatIsNotThere(int port) {
        assertThat(m.api.ports.ibQueryPort(m.device, port, new Ports.Out<>())).isEqualTo(-Errno.EINVAL);
        assertThat(m.api.ports.rdmaPortGetLinkLayer(m.device, port)).isEqualTo(LinkLayer.UNSPECIFIED);
        assertThat(m.api.ports.ibQueryGid(m.device, port, 0, new Ports.Out<>())).isEqualTo(-Errno.EINVAL);
        assertThat(m.api.ports.ibQueryGid(m.device, 1, 1 + port * port, new Ports.Out<>()))
                .isEqualTo(-Errno.EINVAL);
        assertThat(m.api.ports.ibQueryPkey(m.device, port, 0, new Ports.Out<>()))
                .isEqualTo(-Errno.EINVAL);
        assertThat(m.api.ports.ibQueryPkey(m.device, 1, 1 + port * port, new Ports.Out<>()))
                .isEqualTo(-Errno.EINVAL);
        Machine rxe = Pair.under("6.1", "rxe").a;
        assertThat(rxe.api.ports.rdmaQueryGid(rxe.device, port, 0, new Ports.Out<>()))
                .isEqualTo(-Errno.EINVAL);
    }

    @Test
    @Covers("ib_query_gid")
    @Covers("rdma_query_gid")
    @Covers("ib_query_pkey")
    @Covers("ib_find_gid")
    @Covers("ib_find_pkey")
    void gidsAndKeysAreFoundWhereTheyAre() {
        HcaPort port = m.driver.hca().port(1);
        port.addGid(FOREIGN);
        port.addPkey(0x0007);
        port.addPkey(0x8007);
        Ports.Out<IbGid> gid = new Ports.Out<>();
        assertThat(m.api.ports.ibQueryGid(m.device, 1, 1, gid)).isZero();
        assertThat(value(gid)).isEqualTo(FOREIGN);
        Ports.Place place = new Ports.Place();
        assertThat(m.api.ports.ibFindGid(m.device, FOREIGN, place)).isZero();
        assertThat(place.port).isEqualTo(1);
        assertThat(place.index).isEqualTo(1);
        Ports.Out<Integer> out = new Ports.Out<>();
        assertThat(m.api.ports.ibQueryPkey(m.device, 1, 0, out)).isZero();
        assertThat(value(out)).isEqualTo(0xffff);
        // the full member's entry is preferred, whatever bit was asked for
        assertThat(m.api.ports.ibFindPkey(m.device, 1, 0x0007, out)).isZero();
        assertThat(value(out)).isEqualTo(2);
        Machine newer = Pair.under("7.2", "mlx5").a;
        assertThat(newer.api.ports.rdmaQueryGid(newer.device, 1, 0, gid)).isZero();
        assertThat(value(gid)).isEqualTo(newer.gid());
        assertThat(newer.api.ports.ibFindGid(newer.device, newer.gid(), place)).isZero();
    }

    @Test
    @Covers(value = "ib_find_gid", outcome = "-ENOENT")
    @Covers(value = "ib_find_pkey", outcome = "-ENOENT")
    void whatNoPortHasIsNotFoundNorAGidOfEthernetFrom419() {
        assertThat(m.api.ports.ibFindGid(m.device, FOREIGN, new Ports.Place())).isEqualTo(-Errno.ENOENT);
        assertThat(m.api.ports.ibFindPkey(m.device, 1, 0x1234, new Ports.Out<>()))
                .isEqualTo(-Errno.ENOENT);
        assertThat(m.api.ports.ibFindPkey(m.device, 9, 0xffff, new Ports.Out<>()))
                .isEqualTo(-Errno.ENOENT);
        Machine rxe = Pair.under("6.12", "rxe").a;
        assertThat(rxe.api.ports.ibFindGid(rxe.device, rxe.gid(), new Ports.Place()))
                .isEqualTo(-Errno.ENOENT);
    }

    @Test
    @Covers("ib_alloc_pd")
    @Covers("ib_dealloc_pd")
    void aDomainReachesAllMemoryAndCountsItsUsers() {
        Pair.End end = new Pair.End(m, QpType.RC, Access.LOCAL_WRITE);
        Pair.End other = new Pair.End(m, QpType.RC, Access.LOCAL_WRITE);
        assertThat(end.pd.localDmaLkey).isNotZero().isNotEqualTo(other.pd.localDmaLkey);
        assertThat(end.pd.usecnt).isEqualTo(1);
        assertThat(m.api.qps.ibDestroyQp(end.qp)).isZero();
        assertThat(end.pd.usecnt).isZero();
        assertThat(m.api.pds.ibDeallocPd(end.pd)).isZero();
        Machine linux = Pair.under("6.12", "mlx5").a;
        IbPd open = linux.api.pds.ibAllocPd(linux.device, IbPd.UNSAFE_GLOBAL_RKEY);
        assertThat(open.unsafeGlobalRkey).isNotZero();
        Machine old = Pair.under("4.4", "mlx4").a;
        assertThatThrownBy(() -> old.api.pds.ibAllocPd(old.device, IbPd.UNSAFE_GLOBAL_RKEY))
                .isInstanceOf(MissingFunction.class)
                .hasMessageContaining("ib_get_dma_mr");
    }

    @Test
    @Covers(value = "ib_alloc_pd", outcome = "-ENOMEM")
    void domainsRunOut() {
        for (int i = 0; i < m.device.attrs().maxPd(); i++) {
            m.api.pds.ibAllocPd(m.device);
        }
        assertThatThrownBy(() -> m.api.pds.ibAllocPd(m.device))
                .isInstanceOf(IbError.class)
                .hasMessageContaining("-ENOMEM");
    }

    @Test
    @Covers(value = "ib_dealloc_pd", outcome = "-EBUSY")
    @Covers(value = "ib_dealloc_pd", outcome = "WARN")
    @Covers(value = "ib_dealloc_pd", outcome = "unchecked")
    void aDomainInUseIsBusyThenWarnedOfThenNotLookedAt() {
        // KERNEL_FACTS.md 6.2
        for (String version : List.of("3.6", "4.4", "4.19", "5.10", "6.1", "6.12", "7.2")) {
            List<String> log = new ArrayList<>();
            Pair p = Pair.under(version, "mlx4");
            Machine machine = new Machine.Setup(p.sim, p.fabric, Pair.linux(version), "mlx4")
                    .traced((def, task, flags, depth, nanos, values, text) -> {
                        if (text != null) {
                            log.add(text);
                        }
                    })
                    .boot();
            Pair.End end = new Pair.End(machine, QpType.RC, Access.LOCAL_WRITE);
            boolean busy = version.equals("3.6");
            boolean warns = List.of("4.4", "4.19", "5.10").contains(version);
            assertThat(machine.api.pds.ibDeallocPd(end.pd)).isEqualTo(busy ? -Errno.EBUSY : 0);
            assertThat(log).hasSize(warns ? 1 : 0);
            assertThat(machine.faults()).isEmpty();
            machine.api.qps.ibDestroyQp(end.qp);
            assertThat(machine.faultKinds()).isEqualTo(busy ? List.of() : List.of(MemoryFault.OBJECT_USE_AFTER_FREE));
        }
    }

    @Test
    @Covers("ib_create_ah")
    @Covers("ib_modify_ah")
    @Covers("ib_query_ah")
    @Covers("ib_destroy_ah")
    void anAddressHandleIsMadeChangedAskedAndTakenAway() {
        IbPd pd = m.api.pds.ibAllocPd(m.device);
        IbAh ah = m.api.ahs.ibCreateAh(pd, IbAhAttr.lid(3));
        assertThat(pd.usecnt).isEqualTo(1);
        assertThat(m.api.ahs.ibModifyAh(ah, pair.b.way())).isZero();
        Ports.Out<IbAhAttr> out = new Ports.Out<>();
        assertThat(m.api.ahs.ibQueryAh(ah, out)).isZero();
        assertThat(value(out)).isEqualTo(pair.b.way());
        assertThat(m.api.ahs.ibModifyAh(ah, new IbAhAttr(3, 0, 9, null))).isEqualTo(-Errno.EINVAL);
        assertThat(m.api.ahs.ibDestroyAh(ah)).isZero();
        assertThat(pd.usecnt).isZero();
    }

    @Test
    @Covers("rdma_create_ah")
    @Covers("rdma_modify_ah")
    @Covers("rdma_query_ah")
    @Covers("rdma_destroy_ah")
    void theSameUnderTheNamesFrom412() {
        Pair p = Pair.under("6.12", "rxe");
        IbPd pd = p.a.api.pds.ibAllocPd(p.a.device);
        IbAh ah = p.a.api.ahs.rdmaCreateAh(pd, p.b.way());
        assertThat(p.a.api.ahs.rdmaModifyAh(ah, p.a.way())).isZero();
        Ports.Out<IbAhAttr> out = new Ports.Out<>();
        assertThat(p.a.api.ahs.rdmaQueryAh(ah, out)).isZero();
        assertThat(value(out)).isEqualTo(p.a.way());
        assertThat(p.a.api.ahs.rdmaDestroyAh(ah)).isZero();
        assertThatThrownBy(() -> p.a.api.ahs.ibCreateAh(pd, p.b.way()))
                .isInstanceOf(MissingFunction.class)
                .hasMessage("ib_create_ah is not in linux-6.12 (gone by 4.12): use rdma_create_ah");
    }

    @Test
    @Covers(value = "ib_create_ah", outcome = "-EINVAL")
    @Covers(value = "ib_create_ah", outcome = "-EOPNOTSUPP")
    @Covers(value = "rdma_create_ah", outcome = "-EINVAL")
    @Covers(value = "rdma_create_ah", outcome = "-EOPNOTSUPP")
    void waysThatCannotBe() {
        IbPd pd = m.api.pds.ibAllocPd(m.device);
        IbAhAttr noGid = new IbAhAttr(3, 0, 1, new IbAhAttr.Route(FOREIGN, 5, 64, 0, 0));
        assertRefused(-Errno.EINVAL, () -> m.api.ahs.ibCreateAh(pd, noGid));
        assertRefused(-Errno.EINVAL, () -> m.api.ahs.ibCreateAh(pd, new IbAhAttr(3, 0, 2, null)));
        Machine rxe = Pair.under("6.1", "rxe").a;
        IbPd roce = rxe.api.pds.ibAllocPd(rxe.device);
        assertRefused(-Errno.EINVAL, () -> rxe.api.ahs.rdmaCreateAh(roce, IbAhAttr.lid(3)));
        Machine siw = Pair.under("6.1", "siw").a;
        IbPd iwarp = siw.api.pds.ibAllocPd(siw.device);
        assertRefused(-Errno.EOPNOTSUPP, () -> siw.api.ahs.rdmaCreateAh(iwarp, siw.way()));
        Machine cxgb4 = Pair.under("4.4", "cxgb4").a;
        IbPd old = cxgb4.api.pds.ibAllocPd(cxgb4.device);
        assertRefused(-Errno.EOPNOTSUPP, () -> cxgb4.api.ahs.ibCreateAh(old, cxgb4.way()));
    }

    private static void assertRefused(int ret, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(IbError.class, e -> assertThat(e.ret()).isEqualTo(ret));
    }

    @Test
    @Covers(value = "ib_modify_ah", outcome = "-ENOSYS/-EOPNOTSUPP")
    @Covers(value = "ib_query_ah", outcome = "-ENOSYS/-EOPNOTSUPP")
    @Covers(value = "rdma_modify_ah", outcome = "-ENOSYS/-EOPNOTSUPP")
    @Covers(value = "rdma_query_ah", outcome = "-ENOSYS/-EOPNOTSUPP")
    void opsThatADriverLeavesOut() {
        Pair old = Pair.under("4.4", "mlx4");
        IbPd pd = old.a.api.pds.ibAllocPd(old.a.device);
        IbAh ah = old.a.api.ahs.ibCreateAh(pd, old.b.way());
        assertThat(old.a.api.ahs.ibModifyAh(ah, old.b.way())).isEqualTo(-Errno.ENOSYS);
        assertThat(old.a.api.ahs.ibQueryAh(ah, new Ports.Out<>())).isZero();
        Pair now = Pair.under("6.12", "mlx5");
        IbAh other = now.a.api.ahs.rdmaCreateAh(now.a.api.pds.ibAllocPd(now.a.device), now.b.way());
        assertThat(now.a.api.ahs.rdmaModifyAh(other, now.b.way())).isEqualTo(-Errno.EOPNOTSUPP);
        // an iWARP device has no handles at all; one made elsewhere shows that the op is looked for first
        Machine cxgb4 = Pair.under("4.4", "cxgb4").a;
        IbAh none = new IbAh(cxgb4.api.pds.ibAllocPd(cxgb4.device), cxgb4.way());
        assertThat(cxgb4.api.ahs.ibQueryAh(none, new Ports.Out<>())).isEqualTo(-Errno.ENOSYS);
        Machine siw = Pair.under("6.12", "siw").a;
        IbAh nothing = new IbAh(siw.api.pds.ibAllocPd(siw.device), siw.way());
        assertThat(siw.api.ahs.rdmaQueryAh(nothing, new Ports.Out<>())).isEqualTo(-Errno.EOPNOTSUPP);
    }

    private static IbWc datagram(int flags) {
        IbWc wc = new IbWc();
        wc.tell(flags, 0, 99, 42, 5, 1);
        return wc;
    }

    @Test
    @Covers("ib_init_ah_from_wc")
    @Covers("ib_init_ah_attr_from_wc")
    @Covers("ib_create_ah_from_wc")
    void theWayBackComesFromTheCompletionAndItsGrh() {
        Ports.Out<IbAhAttr> out = new Ports.Out<>();
        assertThat(m.api.ahs.ibInitAhFromWc(m.device, 1, datagram(0), null, out))
                .isZero();
        assertThat(value(out)).isEqualTo(new IbAhAttr(42, 5, 1, null));
        IbGrh grh = IbGrh.of(new IbAhAttr.Route(m.gid(), 0, 64, 0xabcde, 7), pair.b.gid(), 100);
        assertThat(IbGrh.parse(grh.bytes())).isEqualTo(grh);
        assertThat(m.api.ahs.ibInitAhFromWc(m.device, 1, datagram(IbWc.GRH), grh, out))
                .isZero();
        assertThat(value(out)).isEqualTo(new IbAhAttr(42, 5, 1, new IbAhAttr.Route(pair.b.gid(), 0, 0xff, 0xabcde, 7)));
        IbPd pd = m.api.pds.ibAllocPd(m.device);
        assertThat(m.api.ahs.ibCreateAhFromWc(pd, datagram(IbWc.GRH), grh, 1).attr)
                .isEqualTo(value(out));
        Machine rxe = Pair.under("5.10", "rxe").a;
        IbGrh toRxe = IbGrh.of(new IbAhAttr.Route(rxe.gid(), 0, 64, 0, 0), FOREIGN, 100);
        assertThat(rxe.api.ahs.ibInitAhAttrFromWc(rxe.device, 1, datagram(IbWc.GRH), toRxe, out))
                .isZero();
        assertThat(value(out).grh()).isEqualTo(new IbAhAttr.Route(FOREIGN, 0, 0xff, 0, 0));
    }

    @Test
    @Covers(value = "ib_init_ah_from_wc", outcome = "-ENOENT")
    @Covers(value = "ib_init_ah_attr_from_wc", outcome = "-ENOENT")
    @Covers(value = "ib_create_ah_from_wc", outcome = "-ENOENT")
    void aGrhThatWasNotForThisPort() {
        IbGrh stray = IbGrh.of(new IbAhAttr.Route(FOREIGN, 0, 64, 0, 0), pair.b.gid(), 100);
        assertThat(m.api.ahs.ibInitAhFromWc(m.device, 1, datagram(IbWc.GRH), stray, new Ports.Out<>()))
                .isEqualTo(-Errno.ENOENT);
        IbPd pd = m.api.pds.ibAllocPd(m.device);
        assertRefused(-Errno.ENOENT, () -> m.api.ahs.ibCreateAhFromWc(pd, datagram(IbWc.GRH), stray, 1));
        Machine rxe = Pair.under("5.10", "rxe").a;
        assertThat(rxe.api.ahs.ibInitAhAttrFromWc(rxe.device, 1, datagram(IbWc.GRH), stray, new Ports.Out<>()))
                .isEqualTo(-Errno.ENOENT);
        assertThatThrownBy(() -> m.api.ahs.ibInitAhFromWc(m.device, 1, datagram(IbWc.GRH), null, new Ports.Out<>()))
                .isInstanceOf(KernelOops.class);
    }
}
