package io.verbena.rdma.backend.foreign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.MemoryLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Holds every layout against the installed headers of rdma-core, by a C program that prints them. */
class LayoutTest {
    private static final List<String> HEADERS = List.of("infiniband/verbs.h", "rdma/rdma_cma.h");

    @TempDir
    Path directory;

    @Test
    void everySizeAndOffsetIsThatOfTheHeaders() throws Exception {
        requireCompilerAndHeaders();
        Map<String, Long> expected = new TreeMap<>();
        var program = new StringBuilder("#include <stdio.h>\n#include <stddef.h>\n#include <netinet/in.h>\n");
        HEADERS.forEach(header -> program.append("#include <").append(header).append(">\n"));
        program.append("int main(void) {\n");
        for (Struct struct : structs()) {
            add(struct, program, expected);
        }
        program.append("return 0; }\n");
        Map<String, Long> actual = run(program.toString());
        assertEquals(expected.keySet(), actual.keySet());
        var wrong = new TreeMap<>(expected);
        wrong.entrySet().removeAll(actual.entrySet());
        var right = new TreeMap<>(actual);
        right.keySet().retainAll(wrong.keySet());
        assertEquals(right, wrong);
        assertTrue(expected.size() > 100, "only " + expected.size() + " sizes and offsets compared");
    }

    private static List<Struct> structs() {
        var all = new ArrayList<>(VerbsDescriptor.ALL);
        all.addAll(RdmaCmDescriptor.ALL);
        all.addAll(SocketAddressDescriptor.ALL);
        return all;
    }

    private static void add(Struct struct, StringBuilder program, Map<String, Long> expected) {
        String type = "struct " + struct.name();
        if (struct.whole()) {
            expected.put("sizeof(" + type + ")", struct.bytes());
        } else {
            program.append("_Static_assert(sizeof(" + type + ") >= " + struct.bytes() + ", \"\");\n");
        }
        for (MemoryLayout member : struct.layout().memberLayouts()) {
            member.name().ifPresent(name -> {
                expected.put("offsetof(" + type + ", " + name + ")", struct.offset(name));
                String value = type + ", " + name;
                program.append("_Static_assert(sizeof(((" + type + " *)0)->" + name + ") == " + member.byteSize()
                        + ", \"size of " + value + "\");\n");
            });
        }
        expected.keySet().stream()
                .filter(key -> key.contains(type + ")") || key.contains(type + ","))
                .forEach(key -> program.append("printf(\"%s=%zu\\n\", \"" + key + "\", " + key + ");\n"));
    }

    private Map<String, Long> run(String program) throws Exception {
        Path source = Files.writeString(directory.resolve("layouts.c"), program);
        Path binary = directory.resolve("layouts");
        execute("gcc", "-Wall", "-o", binary.toString(), source.toString());
        Map<String, Long> values = new TreeMap<>();
        for (String line : execute(binary.toString())) {
            int equals = line.lastIndexOf('=');
            values.put(line.substring(0, equals), Long.parseLong(line.substring(equals + 1)));
        }
        return values;
    }

    private static List<String> execute(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), command[0] + " did not end");
        assertEquals(0, process.exitValue(), output);
        return output.lines().toList();
    }

    private static void requireCompilerAndHeaders() {
        boolean compiler = false;
        for (String directory : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
            compiler |= Files.isExecutable(Path.of(directory, "gcc"));
        }
        assumeTrue(compiler, "no gcc on the PATH");
        for (String header : HEADERS) {
            assumeTrue(
                    Files.exists(Path.of("/usr/include", header)),
                    "no /usr/include/" + header + ": install libibverbs-dev and librdmacm-dev");
        }
    }
}
