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

package dev.rdmarpc.flatbuffers;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Finds out where two {@linkplain SchemaDigest digests} of a method contradict each
 * other. What one of them has more at the end of parameters, of a table or of a union
 * does not.
 *
 * <p>
 * The second one comes from a peer. Reading takes no stack, however the tables refer to
 * each other, and comparing takes at most {@value #MAX_PAIRS} pairs of tables.
 */
final class SchemaDifference {

	private static final int MAX_PAIRS = 10_000;

	private static final int MAX_PATH_LENGTH = 200;

	private static final String ARROW = ") -> ";

	private final Digest own;

	private final Digest peers;

	private final Deque<Pair> pairs = new ArrayDeque<>();

	private final Set<String> seen = new HashSet<>();

	private SchemaDifference(Digest own, Digest peers) {
		this.own = own;
		this.peers = peers;
	}

	/** The first difference that matters, as text, or {@code null} if there is none. */
	static @Nullable String between(String own, String peers) {
		Digest theirs = Digest.parse(peers);
		Digest ours = Digest.parse(own);
		if (theirs == null || ours == null) {
			return "it cannot be read";
		}
		return new SchemaDifference(ours, theirs).find();
	}

	private @Nullable String find() {
		addAll("parameter ", this.own.parameters(), this.peers.parameters());
		if (!this.own.result().equals(SchemaDigest.NOTHING) && !this.peers.result().equals(SchemaDigest.NOTHING)) {
			this.pairs.add(new Pair("the result", this.own.result(), this.peers.result()));
		}
		for (Pair pair = this.pairs.poll(); pair != null; pair = this.pairs.poll()) {
			String difference = compare(pair);
			if (difference != null) {
				return difference;
			}
		}
		return null;
	}

	private @Nullable String compare(Pair pair) {
		String mine = pair.own();
		String other = pair.peers();
		if (mine.equals(SchemaDigest.ANY) || other.equals(SchemaDigest.ANY)) {
			return null;
		}
		if (mine.startsWith("[") && other.startsWith("[")) {
			this.pairs.addFirst(new Pair("an element of " + pair.path(), element(mine), element(other)));
			return null;
		}
		List<String> myParts = this.own.declarations().get(mine);
		List<String> otherParts = this.peers.declarations().get(other);
		if (myParts == null && otherParts == null && mine.equals(other)) {
			return null;
		}
		if (myParts == null || otherParts == null || mine.charAt(0) != other.charAt(0)) {
			return pair.path() + " is " + display(mine) + " and " + display(other);
		}
		if (this.seen.add(mine + " " + other)) {
			if (this.seen.size() > MAX_PAIRS) {
				return "there are too many tables to compare";
			}
			String part = (mine.charAt(0) == 't') ? ", field " : ", member ";
			addAll((pair.path().length() < MAX_PATH_LENGTH) ? pair.path() + part : pair.path(), myParts, otherParts);
		}
		return null;
	}

	private void addAll(String path, List<String> mine, List<String> others) {
		for (int i = Math.min(mine.size(), others.size()) - 1; i >= 0; i--) {
			String place = (path.length() < MAX_PATH_LENGTH) ? path + (i + 1) : path;
			this.pairs.addFirst(new Pair(place, mine.get(i), others.get(i)));
		}
	}

	private static String element(String vector) {
		return vector.substring(1, vector.length() - 1);
	}

	private static String display(String type) {
		if (type.startsWith("[")) {
			return "a vector of " + display(element(type));
		}
		boolean declared = type.length() > 1 && Character.isDigit(type.charAt(1));
		return !declared ? type : (type.charAt(0) == 't') ? "a table" : "a union";
	}

	/** Two types to be compared. */
	private record Pair(String path, String own, String peers) {

	}

	/** A digest that was read. */
	private record Digest(List<String> parameters, String result, Map<String, List<String>> declarations) {

		static @Nullable Digest parse(String text) {
			String[] parts = text.split("; ", -1);
			int arrow = parts[0].indexOf(ARROW);
			if (!parts[0].startsWith("(") || arrow < 0) {
				return null;
			}
			Map<String, List<String>> declarations = new HashMap<>();
			for (int i = 1; i < parts.length; i++) {
				int brace = parts[i].indexOf(" {");
				if (brace < 2 || !parts[i].endsWith("}")) {
					return null;
				}
				declarations.put(parts[i].substring(0, brace),
						list(parts[i].substring(brace + 2, parts[i].length() - 1)));
			}
			Digest digest = new Digest(list(parts[0].substring(1, arrow)), parts[0].substring(arrow + ARROW.length()),
					declarations);
			return digest.isSound() ? digest : null;
		}

		private static List<String> list(String text) {
			return text.isEmpty() ? List.of() : List.of(text.split(", ", -1));
		}

		private boolean isSound() {
			return isType(this.result) && this.parameters.stream().allMatch(Digest::isType)
					&& this.declarations.values().stream().allMatch((parts) -> parts.stream().allMatch(Digest::isType));
		}

		private static boolean isType(String type) {
			String plain = (type.startsWith("[") && type.endsWith("]")) ? element(type) : type;
			return !plain.isEmpty() && plain.chars().allMatch((c) -> c < 128 && Character.isLetterOrDigit(c));
		}

	}

}
