package io.verbena.rdma;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Who may know whom among the packages of rdma-channel. */
class PackageBordersTest {
    private static final String ROOT = "io.verbena.rdma.";
    private static final String DISNI = "com.ibm.disni.verbs";

    private static final Set<String> PACKAGES = Set.of(
            "stream",
            "protocol",
            "ring",
            "cm",
            "completion",
            "memory",
            "verbs",
            "sys",
            "backend.soft",
            "backend.foreign");

    /** Packages of the design that have no class yet. A rule about them passes because there is nothing to break it. */
    private static final Set<String> NOT_YET = Set.of("memory");

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.verbena.rdma");

    @Test
    void everyPackageOfTheDesignHasClassesOrIsNotYetThere() {
        Set<String> present = new TreeSet<>();
        CLASSES.forEach(type -> present.add(type.getPackageName().substring(ROOT.length())));
        Set<String> expected = new TreeSet<>(PACKAGES);
        expected.removeAll(NOT_YET);
        assertEquals(expected, present, "keep PACKAGES and NOT_YET in step with the packages that have classes");
    }

    @Test
    void protocolKnowsJavaAndRingOnly() {
        knowsOnly("protocol", "java..", ROOT + "ring");
    }

    @Test
    void protocolHasNoThreadClockChannelOrNativeCall() {
        check(
                noClasses()
                        .that()
                        .resideInAPackage(ROOT + "protocol")
                        .should()
                        .dependOnClassesThat(resideInAnyPackage(
                                        "java.util.concurrent..",
                                        "java.lang.foreign",
                                        "java.time",
                                        "java.nio.channels..")
                                .or(type(Thread.class))
                                .or(nameMatching("java\\.net\\.(?!Inet.?Address|Inet[46]Address|UnknownHost).*")))
                        .orShould()
                        .callMethod(System.class, "nanoTime")
                        .orShould()
                        .callMethod(System.class, "currentTimeMillis"),
                "protocol");
    }

    @Test
    void ringKnowsJavaOnly() {
        knowsOnly("ring", "java..");
    }

    @Test
    void sysKnowsJavaOnly() {
        knowsOnly("sys", "java..");
    }

    @Test
    void verbsKnowsDisniSysAndTheBackendsItChoosesFrom() {
        knowsOnly("verbs", "java..", DISNI, ROOT + "sys", ROOT + "backend..");
    }

    @Test
    void softKnowsDisniVerbsAndSysButNoOtherBackend() {
        knowsOnly("backend.soft", "java..", DISNI, ROOT + "verbs", ROOT + "sys");
    }

    @Test
    void foreignKnowsDisniVerbsAndSysButNoOtherBackend() {
        knowsOnly("backend.foreign", "java..", DISNI, ROOT + "verbs", ROOT + "sys");
    }

    @Test
    void cmCompletionAndMemoryKnowNeitherABackendNorTheStreamAboveThem() {
        for (String name : new String[] {"cm", "completion", "memory"}) {
            check(
                    noClasses()
                            .that()
                            .resideInAPackage(ROOT + name)
                            .should()
                            .dependOnClassesThat(resideInAnyPackage(ROOT + "backend..", ROOT + "stream")),
                    name);
        }
    }

    @Test
    void nothingKnowsAnSpiTypeOfNioOrDisnisNativeAndEndpointClasses() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAnyPackage(
                        "java.nio.channels.spi", "com.ibm.disni", "com.ibm.disni.verbs.impl", "com.ibm.disni.util"))
                .allowEmptyShould(NOT_YET.equals(PACKAGES))
                .check(CLASSES);
    }

    private static void knowsOnly(String name, String... allowed) {
        check(
                noClasses()
                        .that()
                        .resideInAPackage(ROOT + name)
                        .should()
                        .dependOnClassesThat(not(resideInAnyPackage(allowed).or(resideInAnyPackage(ROOT + name)))),
                name);
    }

    private static void check(ArchRule rule, String name) {
        rule.allowEmptyShould(NOT_YET.contains(name)).check(CLASSES);
    }
}
