package io.verbena.compat.end;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.verbena.compat.program.EndReader;
import io.verbena.compat.program.EndingWriter;
import io.verbena.compat.support.ProgramJvm;
import io.verbena.compat.support.Provider;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a peer sees of the end of a JVM that never closed its channel: as on TCP. */
class JvmEndTest {
    private static final int BYTES = 200_000;

    private static Stream<Arguments> endings() {
        return Stream.of(Provider.values())
                .flatMap(provider ->
                        Stream.of("return", "exit", "halt", "kill").map(ending -> Arguments.of(provider, ending)));
    }

    @ParameterizedTest
    @MethodSource("endings")
    void peerReadsAllThenMinusOne(Provider provider, String ending) throws Exception {
        assertEquals(BYTES + " -1", found(provider, ending, 0));
    }

    @ParameterizedTest
    @MethodSource("endings")
    void peerReadsWhatArrivedThenResetIfTheDeadSideHadUnreadInput(Provider provider, String ending) throws Exception {
        String found = found(provider, ending, 10); // TCP throws away what was still under way
        assertTrue(found.endsWith(" Connection reset"), found);
    }

    /** What the reader finds after the writer's end, with so many bytes sent to the writer that it never reads. */
    private static String found(Provider provider, String ending, int unreadBytes) throws Exception {
        try (ProgramJvm reader =
                ProgramJvm.start(provider, EndReader.class, List.of(), Integer.toString(unreadBytes))) {
            String port = reader.expect("port ");
            try (ProgramJvm writer =
                    ProgramJvm.start(provider, EndingWriter.class, List.of(), port, Integer.toString(BYTES), ending)) {
                writer.expect("written ");
                reader.expect("accepted");
                writer.send("end");
                if (ending.equals("kill")) {
                    writer.process().destroyForcibly();
                }
                writer.awaitExit();
                reader.send("read");
                String found = reader.expect("found ");
                assertEquals(0, reader.awaitExit(), reader::transcript);
                if (provider.isVerbena()) {
                    String transport = provider == Provider.VERBENA_SOFT ? "soft" : "tcp";
                    assertEquals(1, reader.counter("accepted." + transport), () -> "carried by another transport");
                }
                return found;
            }
        }
    }
}
