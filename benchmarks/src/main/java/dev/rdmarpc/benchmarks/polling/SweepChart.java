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

package dev.rdmarpc.benchmarks.polling;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Draws the result of a sweep: calls per second and the median latency against the time
 * polled, one line per workload and a dashed one for the adaptive budget.
 */
public final class SweepChart {

	private static final List<String> COLOURS = List.of("#d1495b", "#2e86ab", "#1b998b");

	private static final int WIDTH = 420;

	private static final int HEIGHT = 280;

	private static final int LEFT = 70;

	private static final int TOP = 40;

	private static final int GAP = 90;

	private final Map<String, List<Point>> workloads = new LinkedHashMap<>();

	private final StringBuilder svg = new StringBuilder();

	private SweepChart(List<String> lines) {
		for (String line : lines.subList(1, lines.size())) {
			String[] fields = line.split(",", -1);
			this.workloads.computeIfAbsent(fields[0], (workload) -> new ArrayList<>())
				.add(new Point(fields[1], Double.parseDouble(fields[2]), Double.parseDouble(fields[3])));
		}
	}

	/** Takes the file with the results and the file to write. */
	public static void main(String[] arguments) throws IOException {
		SweepChart chart = new SweepChart(Files.readAllLines(Path.of(arguments[0])));
		Files.writeString(Path.of(arguments[1]), chart.draw());
	}

	private String draw() {
		line("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">",
				LEFT + 2 * (WIDTH + GAP), TOP + HEIGHT + 60 + 24 * this.workloads.size());
		line("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>");
		panel("calls/s against the time polled, us", LEFT, Point::callsPerSecond);
		panel("p50 in us against the time polled, us", LEFT + WIDTH + GAP, Point::medianMicros);
		int row = 0;
		for (String workload : this.workloads.keySet()) {
			int y = TOP + HEIGHT + 56 + 24 * row;
			line("<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"3\"/>", LEFT, y - 4,
					LEFT + 24, y - 4, COLOURS.get(row));
			line("<text x=\"%d\" y=\"%d\">%s; dashed: adaptive</text>", LEFT + 32, y, workload);
			row++;
		}
		line("</svg>");
		return this.svg.toString();
	}

	private void panel(String title, int left, java.util.function.ToDoubleFunction<Point> value) {
		double[] values = this.workloads.values().stream().flatMap(List::stream).mapToDouble(value).sorted().toArray();
		double smallest = Math.pow(10, Math.floor(Math.log10(values[0])));
		double largest = Math.pow(10, Math.ceil(Math.log10(values[values.length - 1])));
		line("<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>", left, TOP - 16, title);
		for (double rate = smallest; rate <= largest * 1.01; rate *= 10) {
			double y = y(rate, smallest, largest);
			line("<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>", left, y, left + WIDTH, y);
			line("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%,.0f</text>", left - 6, y + 4, rate);
		}
		int row = 0;
		for (Map.Entry<String, List<Point>> workload : this.workloads.entrySet()) {
			StringBuilder path = new StringBuilder();
			List<Point> fixed = workload.getValue().stream().filter((point) -> !point.isAdaptive()).toList();
			for (int i = 0; i < fixed.size(); i++) {
				double x = left + 20 + (WIDTH - 40.0) * i / Math.max(1, fixed.size() - 1);
				double y = y(value.applyAsDouble(fixed.get(i)), smallest, largest);
				path.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
				line("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>%s us: %,.1f</title></circle>", x, y,
						COLOURS.get(row), fixed.get(i).polled(), value.applyAsDouble(fixed.get(i)));
				if (row == 0) {
					line("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>", x, TOP + HEIGHT + 18,
							fixed.get(i).polled());
				}
			}
			line("<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>", path.toString().trim(),
					COLOURS.get(row));
			for (Point point : workload.getValue()) {
				if (point.isAdaptive()) {
					double y = y(value.applyAsDouble(point), smallest, largest);
					line("<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" stroke-dasharray=\"6 4\"/>",
							left, y, left + WIDTH, y, COLOURS.get(row));
				}
			}
			row++;
		}
	}

	private static double y(double value, double smallest, double largest) {
		return TOP + HEIGHT * (1 - Math.log(value / smallest) / Math.log(largest / smallest));
	}

	private void line(String format, Object... values) {
		this.svg.append(String.format(Locale.ROOT, format, values)).append('\n');
	}

	/** What was measured with one budget. */
	private record Point(String polled, double callsPerSecond, double medianMicros) {

		boolean isAdaptive() {
			return !Character.isDigit(this.polled.charAt(0));
		}

	}

}
