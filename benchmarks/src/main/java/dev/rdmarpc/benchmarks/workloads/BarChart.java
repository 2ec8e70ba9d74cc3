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

import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;

/**
 * Draws figures as an SVG picture: panels below each other, in each a group of bars for
 * each line, one bar per peer, from zero.
 */
final class BarChart {

	private static final List<String> COLOURS = List.of("#d1495b", "#2e86ab", "#1b998b", "#edae49", "#999999",
			"#222222");

	private static final int HEIGHT = 180;

	private static final int LEFT = 80;

	private static final int TOP = 44;

	private static final int BAR = 12;

	private static final int GAP = 20;

	private final List<String> peers;

	private final StringBuilder svg = new StringBuilder();

	private final int width;

	private int top;

	/**
	 * Begins a picture.
	 * @param peers of each group
	 * @param groups how many there are in the widest panel
	 * @param panels how many there are
	 */
	BarChart(List<String> peers, int groups, int panels) {
		this.peers = peers;
		this.width = Math.max(560, LEFT + groups * (peers.size() * BAR + GAP) + GAP);
		int height = panels * (HEIGHT + TOP + 24) + 40;
		line("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">",
				this.width, height);
		line("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>");
	}

	/** Adds a panel. */
	void panel(String title, List<String> groups, BiFunction<String, String, Double> value) {
		double most = groups.stream()
			.flatMap((group) -> this.peers.stream().map((peer) -> value.apply(group, peer)))
			.filter((figure) -> !figure.isNaN())
			.mapToDouble(Double::doubleValue)
			.max()
			.orElse(1);
		double tick = tick(most);
		double scale = HEIGHT / Math.max(tick, Math.ceil(most / tick) * tick);
		int base = this.top + TOP + HEIGHT;
		line("<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>", LEFT, this.top + TOP - 16, title);
		for (double at = 0; at * scale <= HEIGHT * 1.001; at += tick) {
			line("<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>", LEFT, base - at * scale,
					this.width - 8, base - at * scale);
			line("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%,.4g</text>", LEFT - 6, base - at * scale + 4, at);
		}
		int x = LEFT + GAP / 2;
		for (String group : groups) {
			int bars = this.peers.size() * BAR;
			line("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>", x + bars / 2, base + 16, group);
			for (int i = 0; i < this.peers.size(); i++) {
				double figure = value.apply(group, this.peers.get(i));
				if (!Double.isNaN(figure)) {
					line("<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"><title>%s, %s: %,.1f</title></rect>",
							x + i * BAR, base - figure * scale, BAR - 2, figure * scale,
							COLOURS.get(i % COLOURS.size()), group, this.peers.get(i), figure);
				}
			}
			x += bars + GAP;
		}
		this.top += TOP + HEIGHT + 24;
	}

	/** One, two or five times a power of ten, so that there are up to ten of them. */
	private static double tick(double most) {
		double power = Math.pow(10, Math.floor(Math.log10(Math.max(most, 1e-6)) - 0.5));
		for (double factor : new double[] { 1, 2, 5 }) {
			if (most / (power * factor) <= 6) {
				return power * factor;
			}
		}
		return 10 * power;
	}

	/** Ends the picture with the legend. */
	String draw() {
		int x = LEFT;
		for (int i = 0; i < this.peers.size(); i++) {
			line("<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>", x, this.top + 14,
					COLOURS.get(i % COLOURS.size()));
			line("<text x=\"%d\" y=\"%d\">%s</text>", x + 18, this.top + 24, this.peers.get(i));
			x += 150;
		}
		line("</svg>");
		return this.svg.toString();
	}

	private void line(String format, Object... values) {
		this.svg.append(String.format(Locale.ROOT, format, values)).append('\n');
	}

}
