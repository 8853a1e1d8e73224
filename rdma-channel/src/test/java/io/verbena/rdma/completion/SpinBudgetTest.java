package io.verbena.rdma.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import org.junit.jupiter.api.Test;

class SpinBudgetTest {
    private static final long MAX_NS = 16_000;

    private final SpinBudget budget = new SpinBudget(MAX_NS);

    private void spin(boolean found) {
        assertEquals(MAX_NS, budget.begin());
        budget.end(found);
    }

    /** Sleeps shortly until the next spin; returns for how long altogether. */
    private long pauseNs(boolean found) {
        long sleptNs = 0;
        while (budget.begin() == 0) {
            budget.slept(MAX_NS / 2);
            sleptNs += MAX_NS / 2;
        }
        budget.end(found);
        return sleptNs;
    }

    @Test
    void spinThatFindsIsRepeated() {
        for (int i = 0; i < 10; i++) {
            spin(true);
        }
    }

    @Test
    void spinsThatFindNothingTakeAPartOfTheTimeThatGetsSmaller() {
        spin(false);
        long factor = SpinBudget.PAUSE;
        for (int i = 0; i < 10; i++) {
            assertEquals(factor * MAX_NS, pauseNs(false));
            factor = Math.min(2 * factor, SpinBudget.PAUSE_GROWTH * SpinBudget.PAUSE);
        }
    }

    @Test
    void spinThatFindsAtOnceForgetsTheFailuresBeforeIt() {
        spin(false);
        for (int i = 0; i < 5; i++) {
            long unused = pauseNs(false);
        }
        long unused = pauseNs(true);
        spin(false);
        assertEquals(SpinBudget.PAUSE * MAX_NS, pauseNs(false));
    }

    @Test
    void longSleepsAreNoReasonToSpinAgain() {
        spin(false);
        for (int i = 0; i < 10_000; i++) {
            budget.slept(100 * MAX_NS);
        }
        assertEquals(0, budget.begin());
    }

    @Test
    void atMostHalfOfTheProcessorsSpin() {
        int most = Runtime.getRuntime().availableProcessors() / 2;
        var spinning = new ArrayList<SpinBudget>();
        for (int i = 0; i < most; i++) {
            var another = new SpinBudget(MAX_NS);
            assertTrue(another.begin() > 0);
            spinning.add(another);
        }
        assertEquals(0, budget.begin());
        spinning.forEach(another -> another.end(true));
        if (most > 0) {
            spin(true);
        }
    }

    @Test
    void budgetOfZeroNeverSpins() {
        assertEquals(0, new SpinBudget(0).begin());
    }

    @Test
    void valueThatIsNoNumberOfMicrosecondsIsRefusedWithItsLimits() {
        System.setProperty(SpinBudget.PROPERTY, "-1");
        try {
            var e = assertThrows(IllegalArgumentException.class, SpinBudget::configuredNs);
            assertEquals(
                    "io.verbena.spin=-1: expected microseconds from 0 (never poll before sleeping) to 1000000",
                    e.getMessage());
        } finally {
            System.clearProperty(SpinBudget.PROPERTY);
        }
    }
}
