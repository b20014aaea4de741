package dev.verbscope.kmodel;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "dev.verbscope.kmodel", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule knowsNoAnalyzer =
            noClasses().should().dependOnClassesThat().resideInAPackage("dev.verbscope.analyzer..");

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching("dev.verbscope.kmodel.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule noWallClockAndNoThreads = noClasses()
            .should()
            .callMethod(System.class, "nanoTime")
            .orShould()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(Thread.class)
            .orShould()
            .dependOnClassesThat()
            .resideInAPackage("java.time..");

    @ArchTest
    static final ArchRule onlyScenariosAndReplaysReadJson = noClasses()
            .that()
            .resideOutsideOfPackages("..scenario..", "..replay..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("com.fasterxml..");
}
