package io.verbena.rdma.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import org.junit.jupiter.api.Test;

class SpinBudgetTest {
    @Test
    void spinThatFindsNothingHalvesTheBudgetDownToNone() {
        var budget = new SpinBudget(16_000);
        for (long expectedNs = 16_000; expectedNs >= 1_000; expectedNs /= 2) {
            assertEquals(expectedNs, budget.begin());
            budget.end(false);
        }
        assertEquals(0, budget.begin());
    }

    @Test
    void spinThatFindsKeepsTheBudget() {
        var budget = new SpinBudget(16_000);
        for (int i = 0; i < 10; i++) {
            assertEquals(16_000, budget.begin());
            budget.end(true);
        }
    }

    @Test
    void sleepShorterThanTheFullBudgetRestoresIt() {
        var budget = new SpinBudget(16_000);
        for (int i = 0; i < 6; i++) {
            if (budget.begin() > 0) {
                budget.end(false);
            }
        }
        budget.slept(16_000);
        assertEquals(0, budget.begin());
        budget.slept(15_999);
        assertEquals(16_000, budget.begin());
        budget.end(true);
    }

    @Test
    void atMostHalfOfTheProcessorsSpin() {
        int most = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        var spinning = new ArrayList<SpinBudget>();
        for (int i = 0; i < most; i++) {
            var budget = new SpinBudget(16_000);
            assertTrue(budget.begin() > 0);
            spinning.add(budget);
        }
        assertEquals(0, new SpinBudget(16_000).begin());
        spinning.forEach(budget -> budget.end(true));
        var after = new SpinBudget(16_000);
        assertEquals(16_000, after.begin());
        after.end(true);
    }

    @Test
    void budgetOfZeroNeverSpins() {
        assertEquals(0, new SpinBudget(0).begin());
    }
}
