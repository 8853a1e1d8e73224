package io.verbena.bench.demo;

import java.util.ArrayList;
import java.util.List;

/** A text table with a header, columns as wide as their widest cell, the first two flush left. */
final class Table {
    private static final String GAP = "   ";

    private final List<List<String>> rows = new ArrayList<>();

    Table(String... header) {
        row(header);
    }

    void row(String... cells) {
        rows.add(List.of(cells));
    }

    @Override
    public String toString() {
        int[] widths = new int[rows.getFirst().size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < rows.size(); i++) {
            append(text, rows.get(i), widths);
            if (i == 0) {
                int total = GAP.length() * (widths.length - 1);
                for (int width : widths) {
                    total += width;
                }
                text.append("-".repeat(total)).append('\n');
            }
        }
        return text.toString();
    }

    private static void append(StringBuilder text, List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String padding = " ".repeat(widths[i] - row.get(i).length());
            line.append(i == 0 ? "" : GAP);
            line.append(i < 2 ? row.get(i) + padding : padding + row.get(i));
        }
        text.append(line.toString().stripTrailing()).append('\n');
    }
}
