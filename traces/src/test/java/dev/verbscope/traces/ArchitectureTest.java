package dev.verbscope.traces;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The directions of DESIGN.md: event, then format, then text, then io; and nothing of the other modules. */
@AnalyzeClasses(packages = "dev.verbscope.traces", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule TRACES_KNOWS_NO_OTHER_MODULE = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.verbscope.kmodel..", "dev.verbscope.analyzer..");

    @ArchTest
    static final ArchRule PACKAGES_POINT_ONE_WAY = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .layer("event")
            .definedBy("dev.verbscope.traces.event..")
            .layer("format")
            .definedBy("dev.verbscope.traces.format..")
            .layer("text")
            .definedBy("dev.verbscope.traces.text..")
            .layer("io")
            .definedBy("dev.verbscope.traces.io..")
            .whereLayer("event")
            .mayNotAccessAnyLayer()
            .whereLayer("format")
            .mayOnlyAccessLayers("event")
            .whereLayer("text")
            .mayOnlyAccessLayers("event", "format")
            .whereLayer("io")
            .mayNotBeAccessedByAnyLayer();
}
