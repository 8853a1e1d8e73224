package io.verbena.compat.build;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** DiSNI brings log4j 1.2 with it; none of it may reach a class path of ours. */
class NoLog4jTest {
    private static final Path ROOT = Path.of(System.getProperty("verbena.root"));

    @ParameterizedTest
    @ValueSource(strings = {"rdma-channel", "spi", "bench", "compat-tests"})
    void noClassPathOfTheModuleHasLog4j1(String module) throws IOException {
        // The test class path includes the compile and run-time ones.
        String classPath = Files.readString(ROOT.resolve(module).resolve("target/class-path.txt"));
        List<Path> jars = new ArrayList<>();
        for (String entry : classPath.strip().split(File.pathSeparator, -1)) {
            Path path = Path.of(entry);
            assertTrue(Files.exists(path), () -> module + " has " + path + " on its class path, which is not there");
            if (Files.isRegularFile(path)) {
                jars.add(path);
            }
        }
        assertFalse(jars.isEmpty(), () -> "no jar on the class path of " + module);
        for (Path jar : jars) {
            assertEquals(List.of(), log4jEntries(jar), () -> "log4j 1.x in " + jar + ", class path of " + module);
        }
    }

    @Test
    void theDropInJarHasNoLog4j1() throws IOException {
        assertEquals(List.of(), log4jEntries(Path.of(System.getProperty("verbena.jar"))));
    }

    @Test
    void thisJvmCanNotLoadIt() {
        ClassLoader loader = NoLog4jTest.class.getClassLoader();
        assertFalse(loader.resources("org/apache/log4j/Logger.class").findAny().isPresent());
    }

    private static List<String> log4jEntries(Path jar) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream()
                    .map(entry -> entry.getName())
                    .filter(name -> name.contains("org/apache/log4j/") || name.contains("log4j/log4j/"))
                    .toList();
        }
    }
}
