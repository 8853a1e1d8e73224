package io.verbena.spi;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The provider sees rdma-channel's public API and nothing below it. */
class PackageBordersTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.verbena.spi");

    @Test
    void thereAreClassesToCheck() {
        assertFalse(CLASSES.isEmpty());
    }

    @Test
    void spiKnowsOnlyStreamAndSysOfRdmaChannel() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAnyPackage("com.ibm.disni..", "io.verbena.rdma..")
                        .and(not(resideInAnyPackage("io.verbena.rdma.stream", "io.verbena.rdma.sys"))))
                .check(CLASSES);
    }

    @Test
    void spiUsesNoThirdPartyLibrary() {
        noClasses()
                .should()
                .dependOnClassesThat(not(resideInAnyPackage("java..", "sun.reflect", "io.verbena..")))
                .check(CLASSES);
    }
}
