package dev.verbscope.kmodel.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbscope.kmodel.profile.KernelProfiles;
import dev.verbscope.kmodel.verbs.ApiFunction;
import dev.verbscope.kmodel.verbs.ApiTable;
import dev.verbscope.kmodel.verbs.Verbs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The table of the API against requirements, facts and tests: no function is missing, none is a stub. */
class ApiTableTest {
    /** Rows G1 to G14 of the requirements, word by word. */
    private static final Map<String, String> REQUIRED = new TreeMap<>(Map.ofEntries(
            Map.entry("G1", "ib_register_client ib_unregister_client ib_set_client_data ib_get_client_data"),
            Map.entry("G2", "ib_register_event_handler ib_unregister_event_handler"),
            Map.entry("G3", "ib_query_device ib_query_port rdma_port_get_link_layer"),
            Map.entry("G4", "ib_query_gid ib_query_pkey ib_find_gid ib_find_pkey"),
            Map.entry("G5", "ib_alloc_pd ib_dealloc_pd"),
            Map.entry(
                    "G6",
                    "ib_create_ah ib_init_ah_from_wc ib_create_ah_from_wc ib_modify_ah ib_query_ah ib_destroy_ah"),
            Map.entry(
                    "G7",
                    "ib_dma_mapping_error ib_dma_map_single ib_dma_unmap_single ib_dma_map_page ib_dma_unmap_page"
                            + " ib_dma_map_sg ib_dma_unmap_sg ib_dma_sync_single_for_cpu"
                            + " ib_dma_sync_single_for_device ib_dma_alloc_coherent ib_dma_free_coherent"),
            Map.entry("G8", "ib_get_dma_mr ib_reg_phys_mr ib_rereg_phys_mr ib_query_mr ib_dereg_mr ib_map_mr_sg"),
            Map.entry("G9", "ib_alloc_mw ib_bind_mw ib_dealloc_mw"),
            Map.entry(
                    "G10",
                    "ib_create_cq ib_resize_cq ib_modify_cq ib_peek_cq ib_req_notify_cq ib_poll_cq ib_destroy_cq"),
            Map.entry("G11", "ib_create_srq ib_modify_srq ib_query_srq ib_destroy_srq ib_post_srq_recv"),
            Map.entry("G12", "ib_create_qp ib_modify_qp ib_query_qp ib_destroy_qp"),
            Map.entry("G13", "ib_post_send ib_post_recv"),
            Map.entry("G14", "ib_attach_mcast ib_detach_mcast")));

    static List<String> names() {
        return ApiTable.all().stream().map(ApiFunction::name).toList();
    }

    @Test
    void everyFunctionOfTheSheetIsInItsRow() {
        REQUIRED.forEach((group, functions) -> {
            for (String name : functions.split(" ", -1)) {
                assertThat(ApiTable.find(name))
                        .as(name)
                        .hasValueSatisfying(f -> assertThat(f.group()).isEqualTo(group));
            }
        });
    }

    /** KERNEL_FACTS.md 6.3 by release: y where the header has the function. */
    @ParameterizedTest
    @CsvSource({
        "ib_register_client,yyyyyyy",
        "ib_query_device,yynnnnn",
        "ib_query_port,yyyyyyy",
        "rdma_port_get_link_layer,yyyyyyy",
        "ib_query_gid,yynnnnn",
        "rdma_query_gid,nnyyyyy",
        "ib_find_gid,yyyyyyy",
        "ib_find_pkey,yyyyyyy",
        "ib_alloc_pd,yyyyyyy",
        "ib_create_ah,yynnnnn",
        "rdma_create_ah,nnyyyyy",
        "ib_init_ah_from_wc,yynnnnn",
        "ib_create_ah_from_wc,yyyyyyy",
        "ib_modify_ah,yynnnnn",
        "ib_dma_map_sg,yyyyyyy",
        "ib_dma_alloc_coherent,yyyynnn",
        "ib_dma_free_coherent,yyyynnn",
        "ib_get_dma_mr,yynnnnn",
        "ib_reg_phys_mr,ynnnnnn",
        "ib_rereg_phys_mr,ynnnnnn",
        "ib_query_mr,yynnnnn",
        "ib_dereg_mr,yyyyyyy",
        "ib_map_mr_sg,nyyyyyy",
        "ib_alloc_mw,yynnnnn",
        "ib_bind_mw,yynnnnn",
        "ib_dealloc_mw,yynnnnn",
        "ib_create_cq,yyyyyyy",
        "ib_resize_cq,yyyyyyn",
        "ib_modify_cq,yynnnnn",
        "rdma_set_cq_moderation,nnyyyyy",
        "ib_peek_cq,nnnnnnn",
        "ib_create_srq,yyyyyyy",
        "ib_create_qp,yyyyyyy",
        "ib_post_recv,yyyyyyy",
        "ib_attach_mcast,yyyyyyy"
    })
    void presenceIsThatOfTheHeaders(String name, String presence) {
        ApiFunction f = ApiTable.find(name).orElseThrow();
        String[] versions = {"3.6", "4.4", "4.19", "5.10", "6.1", "6.12", "7.2"};
        for (int i = 0; i < versions.length; i++) {
            assertThat(f.in(Pair.linux(versions[i])))
                    .as(name + " in " + versions[i])
                    .isEqualTo(presence.charAt(i) == 'y');
        }
    }

    @ParameterizedTest
    @MethodSource("names")
    void aFunctionIsThereUnderTheSheetOrSaysWhy(String name) {
        ApiFunction f = ApiTable.find(name).orElseThrow();
        assertThat(f.absence(KernelProfiles.ARTICLE_CHECKED).isEmpty()).isEqualTo(f.sheet());
        assertThat(f.source()).isNotBlank();
        assertThat(f.signatures())
                .isNotEmpty()
                .allSatisfy(
                        s -> assertThat(s.text()).contains(name.equals("rdma_set_cq_moderation") ? "cq_period" : name));
        assertThat(f.signature(Pair.linux("7.2")))
                .isEqualTo(f.signatures().get(f.signatures().size() - 1).text());
    }

    @ParameterizedTest
    @MethodSource("names")
    void theMethodNamedIsThere(String name) throws ClassNotFoundException {
        String[] where = ApiTable.find(name).orElseThrow().java().split("\\.", -1);
        Class<?> type = Class.forName(Verbs.class.getPackageName() + "." + where[0]);
        assertThat(Arrays.stream(type.getMethods()).map(Method::getName)).contains(where[1]);
        StringBuilder camel = new StringBuilder();
        for (String part : name.split("_", -1)) {
            camel.append(camel.length() == 0 ? part : Character.toUpperCase(part.charAt(0)) + part.substring(1));
        }
        assertThat(where[1]).isEqualTo(camel.toString());
    }

    /** Every {@link Covers} of the tests in this package: function and outcome to the tests. */
    private static Map<String, Set<String>> covered() {
        Map<String, Set<String>> out = new TreeMap<>();
        try (var files = Files.list(
                Path.of(ApiTableTest.class.getResource("ApiTableTest.class").getPath())
                        .getParent())) {
            List<String> classes = files.map(p -> p.getFileName().toString())
                    .filter(n -> n.endsWith("Test.class"))
                    .map(n -> ApiTableTest.class.getPackageName() + "." + n.substring(0, n.length() - 6))
                    .sorted()
                    .toList();
            for (String c : classes) {
                for (Method m : Class.forName(c).getDeclaredMethods()) {
                    for (Covers covers : m.getAnnotationsByType(Covers.class)) {
                        out.computeIfAbsent(covers.value() + " " + covers.outcome(), k -> new TreeSet<>())
                                .add(m.getDeclaringClass().getSimpleName() + "." + m.getName());
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
        return out;
    }

    @Test
    void everyFunctionHasATestOfItsSuccessAndOfEachResultInTheTable() {
        Map<String, Set<String>> covered = covered();
        List<String> missing = new ArrayList<>();
        Set<String> known = new LinkedHashSet<>();
        for (ApiFunction f : ApiTable.all()) {
            known.add(f.name() + " ");
            for (ApiFunction.Outcome o : f.outcomes()) {
                known.add(f.name() + " " + o.result());
            }
        }
        for (String key : known) {
            if (!covered.containsKey(key)) {
                missing.add(key);
            }
        }
        assertThat(missing).as("in the table, in no test").isEmpty();
        assertThat(covered.keySet()).as("in a test, not in the table").isSubsetOf(known);
    }
}
