/*
 * Copyright 2026 the rdma-rpc authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.rdmarpc.benchmarks.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A table in Markdown, which is good to read in a terminal, too. */
public final class MarkdownTable {

	private final List<List<String>> rows = new ArrayList<>();

	/** Creates a table without rows, with a column for each title. */
	public MarkdownTable(List<String> titles) {
		this.rows.add(titles);
	}

	/** Adds a row, of a cell for each column. */
	public void add(List<String> cells) {
		this.rows.add(cells);
	}

	/** A number with three digits or more. */
	public static String number(double value) {
		if (Double.isNaN(value)) {
			return "-";
		}
		if (value >= 1e4) {
			return String.format(Locale.ROOT, "%.1f k", value / 1e3);
		}
		return String.format(Locale.ROOT, (value < 100) ? "%.1f" : "%.0f", value);
	}

	/** The table, of as many lines as rows and two for the titles. */
	public List<String> toLines() {
		int columns = this.rows.get(0).size();
		int[] widths = new int[columns];
		for (List<String> row : this.rows) {
			for (int i = 0; i < columns; i++) {
				widths[i] = Math.max(widths[i], row.get(i).length());
			}
		}
		List<String> lines = new ArrayList<>();
		for (List<String> row : this.rows) {
			StringBuilder line = new StringBuilder("|");
			for (int i = 0; i < columns; i++) {
				line.append(String.format(Locale.ROOT, (i == 0) ? " %-" + widths[i] + "s |" : " %" + widths[i] + "s |",
						row.get(i)));
			}
			lines.add(line.toString());
			if (lines.size() == 1) {
				StringBuilder rule = new StringBuilder("|");
				for (int i = 0; i < columns; i++) {
					rule.append(
							(i == 0) ? " " + "-".repeat(widths[i]) + " |" : " " + "-".repeat(widths[i] - 1) + ": |");
				}
				lines.add(rule.toString());
			}
		}
		return lines;
	}

}
