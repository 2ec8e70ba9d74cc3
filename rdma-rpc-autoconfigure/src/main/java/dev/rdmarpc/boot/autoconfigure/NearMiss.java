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

package dev.rdmarpc.boot.autoconfigure;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** What somebody may have meant who misspelt a name. */
final class NearMiss {

	private NearMiss() {
	}

	/**
	 * The name that is most like another one.
	 * @param name as it was written
	 * @param known those that there are
	 * @return empty if none is like it: at most one character in four may differ, and at
	 * most three in all
	 */
	static Optional<String> of(String name, Collection<String> known) {
		return known.stream()
			.filter((candidate) -> distance(name, candidate) <= most(name))
			.min(Comparator.<String>comparingInt((candidate) -> distance(name, candidate)).thenComparing((one) -> one));
	}

	private static int most(String name) {
		return Math.max(1, Math.min(3, name.length() / 4));
	}

	/**
	 * How many characters to insert, delete, replace or swap with the next (optimal
	 * string alignment), not counting case and dashes.
	 */
	private static int distance(String one, String other) {
		String from = plain(one);
		String to = plain(other);
		int[][] distances = new int[from.length() + 1][to.length() + 1];
		for (int i = 0; i <= from.length(); i++) {
			for (int j = 0; j <= to.length(); j++) {
				distances[i][j] = (i == 0 || j == 0) ? i + j : step(distances, from, to, i, j);
			}
		}
		return distances[from.length()][to.length()];
	}

	private static int step(int[][] distances, String from, String to, int i, int j) {
		int replaced = (from.charAt(i - 1) != to.charAt(j - 1)) ? 1 : 0;
		int best = Math.min(distances[i - 1][j - 1] + replaced, Math.min(distances[i - 1][j], distances[i][j - 1]) + 1);
		boolean swapped = i > 1 && j > 1 && from.charAt(i - 1) == to.charAt(j - 2)
				&& from.charAt(i - 2) == to.charAt(j - 1);
		return swapped ? Math.min(best, distances[i - 2][j - 2] + 1) : best;
	}

	private static String plain(String name) {
		return name.replace("-", "").toLowerCase(Locale.ROOT);
	}

}
