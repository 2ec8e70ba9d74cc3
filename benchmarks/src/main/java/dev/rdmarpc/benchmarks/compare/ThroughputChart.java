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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Draws throughput against message size from a {@link ResultFile}: one panel per mode,
 * one line per peer, both axes logarithmic.
 */
public final class ThroughputChart {

	private static final List<String> COLOURS = List.of("#222222", "#999999", "#d1495b", "#2e86ab", "#1b998b",
			"#edae49");

	private static final int WIDTH = 460;

	private static final int HEIGHT = 320;

	private static final int LEFT = 64;

	private static final int TOP = 40;

	private static final int GAP = 90;

	private static final int LEGEND = 56;

	private final Map<String, Map<String, Map<Integer, Double>>> modes = new LinkedHashMap<>();

	private final List<String> peers = new ArrayList<>();

	private final StringBuilder svg = new StringBuilder();

	private double smallest = Double.MAX_VALUE;

	private double largest = 1;

	private int fewest = Integer.MAX_VALUE;

	private int most = 1;

	private ThroughputChart(List<String> lines) {
		for (String line : lines.subList(1, lines.size())) {
			String[] fields = line.split(",", -1);
			int bytes = Integer.parseInt(fields[2]);
			double rate = Double.parseDouble(fields[9]);
			this.modes.computeIfAbsent(fields[1], (mode) -> new LinkedHashMap<>())
				.computeIfAbsent(fields[0], (peer) -> new TreeMap<>())
				.put(bytes, rate);
			if (!this.peers.contains(fields[0])) {
				this.peers.add(fields[0]);
			}
			this.smallest = Math.min(this.smallest, rate);
			this.largest = Math.max(this.largest, rate);
			this.fewest = Math.min(this.fewest, bytes);
			this.most = Math.max(this.most, bytes);
		}
		this.smallest = Math.pow(10, Math.floor(Math.log10(this.smallest)));
		this.largest = Math.pow(10, Math.ceil(Math.log10(this.largest)));
	}

	/** Takes the file with the results and the file to write. */
	public static void main(String[] arguments) throws IOException {
		ThroughputChart chart = new ThroughputChart(Files.readAllLines(Path.of(arguments[0])));
		Files.writeString(Path.of(arguments[1]), chart.draw());
	}

	private String draw() {
		int width = LEFT + this.modes.size() * (WIDTH + GAP);
		int height = TOP + HEIGHT + LEGEND + 24 * ((this.peers.size() + 2) / 3);
		line("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">",
				width, height);
		line("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>");
		int left = LEFT;
		for (Map.Entry<String, Map<String, Map<Integer, Double>>> mode : this.modes.entrySet()) {
			panel(mode.getKey(), mode.getValue(), left);
			left += WIDTH + GAP;
		}
		for (int i = 0; i < this.peers.size(); i++) {
			int x = LEFT + i % 3 * 180;
			int y = TOP + HEIGHT + LEGEND + 24 * (i / 3);
			line("<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"3\"/>", x, y - 4, x + 24,
					y - 4, colour(this.peers.get(i)));
			line("<text x=\"%d\" y=\"%d\">%s</text>", x + 32, y, this.peers.get(i));
		}
		line("</svg>");
		return this.svg.toString();
	}

	private void panel(String mode, Map<String, Map<Integer, Double>> lines, int left) {
		line("<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s: payload one way, MB/s</text>", left, TOP - 16, mode);
		for (double rate = this.smallest; rate <= this.largest * 1.01; rate *= 10) {
			line("<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>", left, y(rate), left + WIDTH,
					y(rate));
			line("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.0f</text>", left - 6, y(rate) + 4, rate);
		}
		for (long bytes = this.fewest; bytes <= this.most; bytes *= 4) {
			double x = x(left, bytes);
			line("<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#dddddd\"/>", x, TOP, x, TOP + HEIGHT);
			line("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>", x, TOP + HEIGHT + 18, size(bytes));
		}
		lines.forEach((peer, points) -> {
			StringBuilder path = new StringBuilder();
			points.forEach(
					(bytes, rate) -> path.append(String.format(Locale.ROOT, "%.1f,%.1f ", x(left, bytes), y(rate))));
			line("<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>", path.toString().trim(),
					colour(peer));
			points.forEach((bytes, rate) -> line(
					"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>%s, %s: %.0f MB/s</title></circle>",
					x(left, bytes), y(rate), colour(peer), peer, size(bytes), rate));
		});
	}

	private double x(int left, long bytes) {
		return left + WIDTH * Math.log((double) bytes / this.fewest) / Math.log((double) this.most / this.fewest);
	}

	private double y(double rate) {
		return TOP + HEIGHT * (1 - Math.log(rate / this.smallest) / Math.log(this.largest / this.smallest));
	}

	private String colour(String peer) {
		return COLOURS.get(this.peers.indexOf(peer) % COLOURS.size());
	}

	private static String size(long bytes) {
		return (bytes >= 1 << 20) ? (bytes >> 20) + " MiB" : (bytes >> 10) + " KiB";
	}

	private void line(String format, Object... values) {
		this.svg.append(String.format(Locale.ROOT, format, values)).append('\n');
	}

}
