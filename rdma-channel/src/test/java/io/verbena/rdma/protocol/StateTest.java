package io.verbena.rdma.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class StateTest {
    private static final Map<String, String> SEND = Map.of(
            "HELLO_OWED+HELLO", "OPEN",
            "OPEN+FIN", "FIN_SENT",
            "OPEN+FIN_CLOSE", "CLOSED",
            "FIN_SENT+FIN_CLOSE", "CLOSED",
            "OPEN+RESET", "RESET",
            "FIN_SENT+RESET", "RESET");

    private static final Map<String, String> RECEIVE = new TreeMap<>();

    static {
        RECEIVE.put("HELLO_AWAITED+HELLO", "OPEN");
        RECEIVE.put("HELLO_AWAITED+RESET", "RESET");
        RECEIVE.put("HELLO_AWAITED+END", "RESET");
        RECEIVE.put("HELLO_AWAITED+CLEAN_END", "RESET");
        RECEIVE.put("HELLO_AWAITED+VIOLATION", "RESET");
        RECEIVE.put("OPEN+FIN", "FIN_SEEN");
        RECEIVE.put("OPEN+FIN_CLOSE", "CLOSED");
        RECEIVE.put("OPEN+RESET", "RESET");
        RECEIVE.put("OPEN+END", "RESET");
        RECEIVE.put("OPEN+CLEAN_END", "ENDED");
        RECEIVE.put("OPEN+VIOLATION", "RESET");
        RECEIVE.put("FIN_SEEN+FIN_CLOSE", "CLOSED");
        for (String complete : new String[] {"FIN_SEEN", "CLOSED"}) {
            RECEIVE.put(complete + "+RESET", "ENDED");
            RECEIVE.put(complete + "+END", "ENDED");
            RECEIVE.put(complete + "+CLEAN_END", "ENDED");
            RECEIVE.put(complete + "+VIOLATION", "RESET");
        }
    }

    @Test
    void sendStateHasTheListedTransitionsOnly() {
        for (SendState state : SendState.values()) {
            for (SendState.Event event : SendState.Event.values()) {
                String next = SEND.get(state + "+" + event);
                if (next != null) {
                    assertEquals(SendState.valueOf(next), state.after(event), state + "+" + event);
                } else {
                    Exception e = assertThrows(IllegalStateException.class, () -> state.after(event));
                    assertEquals("send state " + state + " does not allow " + event, e.getMessage());
                }
            }
        }
    }

    @Test
    void receiveStateHasTheListedTransitionsOnly() {
        for (ReceiveState state : ReceiveState.values()) {
            for (ReceiveState.Event event : ReceiveState.Event.values()) {
                String next = RECEIVE.get(state + "+" + event);
                if (next != null) {
                    assertEquals(ReceiveState.valueOf(next), state.after(event), state + "+" + event);
                } else {
                    Exception e = assertThrows(IllegalStateException.class, () -> state.after(event));
                    assertEquals("receive state " + state + " does not allow " + event, e.getMessage());
                }
            }
        }
    }
}
