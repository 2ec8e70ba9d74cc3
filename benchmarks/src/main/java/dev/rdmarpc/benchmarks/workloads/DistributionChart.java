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

package dev.rdmarpc.benchmarks.workloads;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.HdrHistogram.Histogram;

/**
 * Draws what share of calls was answered in what time, as an SVG picture: a line for each
 * histogram, over a logarithmic axis of time.
 */
final class DistributionChart {

	private static final List<String> COLOURS = List.of("#222222", "#999999", "#edae49", "#d1495b", "#2e86ab",
			"#1b998b");

	private static final int WIDTH = 640;

	private static final int HEIGHT = 320;

	private static final int LEFT = 64;

	private static final int TOP = 40;

	/** From a microsecond to 100 ms. */
	private static final double FIRST_NANOS = 1e3;

	private static final int DECADES = 5;

	private final StringBuilder svg = new StringBuilder();

	private DistributionChart(int lines) {
		line("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">",
				LEFT + WIDTH + 24, TOP + HEIGHT + 56 + 20 * lines);
		line("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>");
	}

	/** Draws histograms of nanoseconds. */
	static String draw(String title, Map<String, Histogram> histograms) {
		DistributionChart chart = new DistributionChart(histograms.size());
		chart.axes(title);
		int count = 0;
		for (Map.Entry<String, Histogram> entry : histograms.entrySet()) {
			String colour = COLOURS.get(count % COLOURS.size());
			chart.curve(entry.getValue(), colour);
			int y = TOP + HEIGHT + 52 + 20 * count;
			chart.line("<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>", LEFT, y - 10, colour);
			chart.line("<text x=\"%d\" y=\"%d\">%s</text>", LEFT + 20, y, entry.getKey());
			count++;
		}
		chart.line("</svg>");
		return chart.svg.toString();
	}

	private void axes(String title) {
		line("<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>", LEFT, TOP - 16, title);
		for (int percent = 0; percent <= 100; percent += 20) {
			double y = TOP + HEIGHT * (1 - percent / 100.0);
			line("<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>", LEFT, y, LEFT + WIDTH, y);
			line("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d %%</text>", LEFT - 6, y + 4, percent);
		}
		List<String> times = List.of("1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms");
		for (int i = 0; i <= DECADES; i++) {
			double x = LEFT + (double) WIDTH * i / DECADES;
			line("<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#dddddd\"/>", x, TOP, x, TOP + HEIGHT);
			line("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>", x, TOP + HEIGHT + 18, times.get(i));
		}
	}

	private void curve(Histogram histogram, String colour) {
		List<String> points = new ArrayList<>();
		for (double percent = 0; percent < 100; percent += 0.5) {
			points.add(point(histogram, percent));
		}
		points.add(point(histogram, 99.9));
		line("<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>", String.join(" ", points),
				colour);
	}

	private static String point(Histogram histogram, double percent) {
		double nanos = Math.max(FIRST_NANOS, (double) histogram.getValueAtPercentile(percent));
		double x = LEFT + WIDTH * Math.min(1, Math.log10(nanos / FIRST_NANOS) / DECADES);
		return String.format(Locale.ROOT, "%.1f,%.1f", x, TOP + HEIGHT * (1 - percent / 100));
	}

	private void line(String format, Object... values) {
		this.svg.append(String.format(Locale.ROOT, format, values)).append('\n');
	}

}
