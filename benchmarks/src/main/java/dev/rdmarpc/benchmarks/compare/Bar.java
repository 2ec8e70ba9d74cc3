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

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * What a figure of the comparison has to be.
 *
 * @param title what the figure is
 * @param value takes the figure; not a number if it was not measured
 * @param upper whether the figure may be at most, instead of at least, the limit
 * @param limit what it has to be
 * @param aim what comes next
 */
record Bar(String title, ToDoubleFunction<Rows> value, boolean upper, double limit, double aim) {

	/** A bar for a figure that is the better the smaller it is. */
	static Bar atMost(String title, double limit, double aim, ToDoubleFunction<Rows> value) {
		return new Bar(title, value, true, limit, aim);
	}

	/** A bar for a figure that is the better the larger it is. */
	static Bar atLeast(String title, double limit, double aim, ToDoubleFunction<Rows> value) {
		return new Bar(title, value, false, limit, aim);
	}

	/** How a result stands to the bar. */
	Verdict judge(Rows rows) {
		double figure = this.value.applyAsDouble(rows);
		if (Double.isNaN(figure)) {
			return Verdict.NOT_MEASURED;
		}
		return (this.upper ? figure <= this.limit : figure >= this.limit) ? Verdict.PASS : Verdict.SHORT;
	}

	/** Prints a table of bars and how a result stands to them. */
	static void print(PrintWriter out, List<Bar> bars, Rows rows) {
		int width = bars.stream().mapToInt((bar) -> bar.title().length()).max().orElse(0);
		String line = "| %-" + width + "s | %8s | %8s | %6s | %-12s |%n";
		out.println();
		out.printf(Locale.ROOT, line, "bar", "measured", "limit", "aim", "result");
		out.printf(Locale.ROOT, "| %s | -------: | -------: | -----: | ------------ |%n", "-".repeat(width));
		for (Bar bar : bars) {
			double figure = bar.value().applyAsDouble(rows);
			out.printf(Locale.ROOT, line, bar.title(), Double.isNaN(figure) ? "-" : number(figure),
					(bar.upper() ? "<= " : ">= ") + number(bar.limit()), number(bar.aim()), bar.judge(rows).text());
		}
		out.flush();
	}

	private static String number(double value) {
		return String.format(Locale.ROOT, (Math.abs(value) < 10 && value != Math.rint(value)) ? "%.2f" : "%.0f", value);
	}

	/** How a result stands to a bar. */
	enum Verdict {

		/** The limit is kept. */
		PASS("pass"),

		/** The limit is not kept. */
		SHORT("short"),

		/** There is no such figure in the result. */
		NOT_MEASURED("not measured");

		private final String text;

		Verdict(String text) {
			this.text = text;
		}

		/** As in tables. */
		String text() {
			return this.text;
		}

	}

}
