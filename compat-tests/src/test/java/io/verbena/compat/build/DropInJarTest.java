package io.verbena.compat.build;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;

/** The jar that people drop in: Verbena's classes, relocated dependencies, and nothing that can clash. */
class DropInJarTest {
    private static final Path JAR = Path.of(System.getProperty("verbena.jar"));
    private static final String DISNI = "io.verbena.shaded.disni.";

    @Test
    void everyClassIsBelowIoVerbena() throws IOException {
        assertEquals(
                List.of(),
                names().stream()
                        .filter(name -> name.endsWith(".class"))
                        .filter(name -> !name.startsWith("io/verbena/"))
                        .toList());
    }

    @Test
    void noClassNamesDisniWhereItWas() throws IOException {
        byte[] unrelocated = "com/ibm/disni".getBytes(StandardCharsets.ISO_8859_1);
        try (JarFile file = new JarFile(JAR.toFile())) {
            for (JarEntry entry : classes(file)) {
                byte[] bytes = file.getInputStream(entry).readAllBytes();
                assertFalse(contains(bytes, unrelocated), () -> entry.getName() + " names com.ibm.disni");
            }
        }
    }

    @Test
    void disniIsThereWithoutItsNativeAndEndpointClasses() throws IOException {
        List<String> disni = names().stream()
                .filter(name -> name.startsWith("io/verbena/shaded/disni/") && name.endsWith(".class"))
                .toList();
        assertTrue(disni.contains("io/verbena/shaded/disni/verbs/RdmaProvider.class"), disni::toString);
        assertEquals(
                List.of("io/verbena/shaded/disni/verbs/impl/RdmaProviderNat.class"),
                disni.stream()
                        .filter(name -> !name.matches("io/verbena/shaded/disni/verbs/[^/]+"))
                        .toList());
    }

    @Test
    void everyDisniClassInitialisesWithNothingElseOnTheClassPath() throws Exception {
        try (JarFile file = new JarFile(JAR.toFile());
                URLClassLoader loader =
                        new URLClassLoader(new URL[] {JAR.toUri().toURL()}, ClassLoader.getPlatformClassLoader())) {
            for (JarEntry entry : classes(file)) {
                String name = entry.getName().replace('/', '.').replaceAll("\\.class$", "");
                if (name.startsWith(DISNI + "verbs.") && !name.startsWith(DISNI + "verbs.impl.")) {
                    assertNotNull(Class.forName(name, true, loader));
                }
            }
        }
    }

    @Test
    void theManifestNamesTheModule() throws IOException {
        try (JarFile file = new JarFile(JAR.toFile())) {
            Attributes attributes = file.getManifest().getMainAttributes();
            assertEquals("io.verbena", attributes.getValue("Automatic-Module-Name"));
            assertEquals("ALL-UNNAMED", attributes.getValue("Enable-Native-Access"));
        }
    }

    private static List<String> names() throws IOException {
        try (JarFile file = new JarFile(JAR.toFile())) {
            return file.stream().map(JarEntry::getName).toList();
        }
    }

    private static List<JarEntry> classes(JarFile file) {
        return file.stream().filter(entry -> entry.getName().endsWith(".class")).toList();
    }

    private static boolean contains(byte[] bytes, byte[] wanted) {
        return new String(bytes, StandardCharsets.ISO_8859_1).contains(new String(wanted, StandardCharsets.ISO_8859_1));
    }
}
