package dev.verbscope.analyzer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The directions of DESIGN.md between modules and inside the analyzer. */
@AnalyzeClasses(packages = "dev.verbscope", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule tracesKnowsNobody = noClasses()
            .that()
            .resideInAPackage("dev.verbscope.traces..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.verbscope.kmodel..", "dev.verbscope.analyzer..");

    @ArchTest
    static final ArchRule modelKnowsNoAnalyzer = noClasses()
            .that()
            .resideInAPackage("dev.verbscope.kmodel..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.verbscope.analyzer..");

    /** Only commands that run the model may touch it; what judges captures must not. */
    @ArchTest
    static final ArchRule judgementKnowsNoModel = noClasses()
            .that()
            .resideInAnyPackage(
                    "dev.verbscope.analyzer",
                    "dev.verbscope.analyzer.verbs..",
                    "dev.verbscope.analyzer.bind..",
                    "dev.verbscope.analyzer.ledger..",
                    "dev.verbscope.analyzer.detect..",
                    "dev.verbscope.analyzer.report..",
                    "dev.verbscope.analyzer.timeline..",
                    "dev.verbscope.analyzer.chart..",
                    "dev.verbscope.analyzer.html..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.verbscope.kmodel..");

    /** Starting must not pay for pictures: only what makes or draws them may know what draws. */
    @ArchTest
    static final ArchRule onlyChartsDraw = noClasses()
            .that()
            .resideInAPackage("dev.verbscope..")
            .and()
            .resideOutsideOfPackage("dev.verbscope.analyzer.chart..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.awt..", "org.jfree..", "org.apache.batik..");

    @ArchTest
    static final ArchRule detectorsKnowNoFormat = noClasses()
            .that()
            .resideInAnyPackage(
                    "dev.verbscope.analyzer.detect..",
                    "dev.verbscope.analyzer.ledger..",
                    "dev.verbscope.analyzer.report..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "dev.verbscope.traces.text..",
                    "dev.verbscope.traces.binary..",
                    "dev.verbscope.traces.tracecmd..",
                    "dev.verbscope.traces.perf..",
                    "dev.verbscope.traces.io..");

    /** The ledger is fed by verbs events only. */
    @ArchTest
    static final ArchRule ledgerKnowsOnlyVerbs = classes()
            .that()
            .resideInAPackage("dev.verbscope.analyzer.ledger..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "dev.verbscope.analyzer.ledger..",
                    "dev.verbscope.analyzer.verbs..",
                    "java..",
                    "com.carrotsearch.hppc..",
                    "org.jspecify..");
}
