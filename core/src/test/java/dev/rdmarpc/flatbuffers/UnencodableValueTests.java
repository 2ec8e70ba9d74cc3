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

import java.lang.reflect.Type;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MessageTooLargeException;
import dev.rdmarpc.codec.UnencodableValueException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class UnencodableValueTests {

	private final MessageSegments segments = new MessageSegments();

	private final MessageFormat format = Messages.arguments(int.class, Node.class);

	@Test
	void nullElementsAreNamedByTheirPath() {
		Node leaf = new Node("leaf", Arrays.asList(null, null), Map.of());
		Node root = new Node("root", List.of(new Node("a", List.of(), Map.of("k", List.of(leaf))), leaf), null);
		expect(root, "p1.children[0].more[0].value[0].children[0]", "null element");
	}

	@Test
	void nullKeysAreNamed() {
		Map<String, List<Node>> map = new HashMap<>();
		map.put(null, List.of());
		expect(new Node("x", null, map), "p1.more[0]", "null key");
	}

	@Test
	void cyclesEndAtTheDepthLimit() {
		List<Node> children = new ArrayList<>();
		Node node = new Node("x", children, null);
		children.add(node);
		assertThatExceptionOfType(UnencodableValueException.class)
			.isThrownBy(() -> this.format.encode(new Object[] { 1, node }, this.segments))
			.withMessageMatching("p1\\.children\\[0].{40,60} … .{40,60}: "
					+ "nested deeper than 64 tables \\(is there a cycle\\?\\)");
		assertThat(this.segments.totalBytes()).isZero();
	}

	@Test
	void unpairedSurrogatesAreRejected() {
		for (String text : List.of("\uD83D", "\uDE00", "ab\uD83D", "\uD83Dab", "12345678\uDE00", "\uDE00\uD83D")) {
			expect(new Node(text, null, null), "p1.name", "unpaired surrogate");
		}
	}

	@Test
	void collectionsThatChangeMeanwhileAreRejected() {
		expect(new Node("x", new Growing(), null), "p1.children", "changed while it was encoded");
	}

	@Test
	void ordersThatCannotBeSentAreRefused() {
		refuse(new TypeOf<TreeMap<String, Integer>>() {
		}.type(), new TreeMap<>(Map.of("a", 1)).descendingMap(), "sorted by a comparator");
		refuse(new TypeOf<SortedMap<String, Integer>>() {
		}.type(), new TreeMap<>(String.CASE_INSENSITIVE_ORDER), "expected: the natural order, or declare Map or Set");
		TreeSet<String> set = new TreeSet<>(Comparator.reverseOrder());
		set.addAll(List.of("a", "b"));
		refuse(new TypeOf<NavigableSet<String>>() {
		}.type(), set, "sorted by a comparator");
		assertThat(new ArrayList<>(Messages.<Set<String>>roundTrip(new TypeOf<Set<String>>() {
		}.type(), set))).containsExactly("b", "a");
		TreeSet<String> natural = new TreeSet<>(Comparator.naturalOrder());
		natural.addAll(set);
		assertThat(Messages.<Set<String>>roundTrip(new TypeOf<SortedSet<String>>() {
		}.type(), natural)).containsExactly("a", "b");
	}

	@Test
	void localesThatWouldComeBackChangedAreRefused() {
		for (Locale locale : List.of(new Locale("no", "NO", "NY"), new Locale("de", "DE", "x y"),
				new Locale("deutsch!"))) {
			refuse(Locale.class, locale, "has no language tag of its own");
		}
		for (Locale locale : Locale.getAvailableLocales()) {
			try {
				assertThat(Messages.<Object>roundTrip(Locale.class, locale)).isEqualTo(locale);
			}
			catch (UnencodableValueException ex) {
				assertThat(Locale.forLanguageTag(locale.toLanguageTag())).isNotEqualTo(locale);
			}
		}
	}

	private void refuse(Type type, Object value, String reason) {
		assertThatExceptionOfType(UnencodableValueException.class)
			.isThrownBy(() -> Messages.result(type).encode(value, this.segments))
			.withMessageStartingWith("value: ")
			.withMessageContaining(reason);
		assertThat(this.segments.totalBytes()).isZero();
	}

	@Test
	void throwingAccessorsAreReportedWithTheirCause() {
		assertThatExceptionOfType(UnencodableValueException.class)
			.isThrownBy(() -> Messages.result(Failing.class).encode(new Failing(1), this.segments))
			.withMessageContaining("Failing cannot be encoded")
			.withRootCauseInstanceOf(UnsupportedOperationException.class);
		assertThat(this.segments.totalBytes()).isZero();
	}

	@Test
	void aNullPrimitiveArgumentIsRejected() {
		assertThatExceptionOfType(UnencodableValueException.class)
			.isThrownBy(() -> this.format.encode(new Object[] { null, null }, this.segments))
			.withMessageContaining("TestService.call arguments cannot be encoded");
	}

	@Test
	void messagesOverTheLimitAreRejectedBeforeTheyGrow() {
		MessageFormat texts = Messages.result(new TypeOf<List<String>>() {
		}.type());
		this.segments.maxBytes(1000);
		for (Object value : List.of(List.of("x".repeat(1001)), Collections.nCopies(1000, ""),
				List.of("\u20AC".repeat(400)), Collections.nCopies(Integer.MAX_VALUE, ""))) {
			assertThatExceptionOfType(MessageTooLargeException.class)
				.isThrownBy(() -> texts.encode(value, this.segments))
				.withMessage("message is larger than the limit of 1000 bytes");
			assertThat(this.segments.totalBytes()).isZero();
		}
		texts.encode(List.of("x".repeat(900)), this.segments);
		assertThat(this.segments.totalBytes()).isBetween(900, 1000);
		MessageFormat bytes = Messages.result(byte[].class);
		assertThatExceptionOfType(MessageTooLargeException.class)
			.isThrownBy(() -> bytes.encode(new byte[1000], this.segments));
		assertThat(this.segments.totalBytes()).isZero();
	}

	private void expect(Node node, String path, String reason) {
		assertThatExceptionOfType(UnencodableValueException.class)
			.isThrownBy(() -> this.format.encode(new Object[] { 1, node }, this.segments))
			.withMessageStartingWith(path + ": ")
			.withMessageContaining(reason)
			.satisfies((ex) -> assertThat(ex.path()).isEqualTo(path));
		assertThat(this.segments.totalBytes()).isZero();
	}

	record Node(String name, List<Node> children, Map<String, List<Node>> more) {

	}

	record Failing(int value) {

		@Override
		public int value() {
			throw new UnsupportedOperationException("no value");
		}

	}

	/** Not random access, and larger each time its size is asked. */
	private static final class Growing extends AbstractList<Node> {

		private int size = 1;

		@Override
		public Node get(int index) {
			return new Node("child", List.of(), Map.of());
		}

		@Override
		public int size() {
			return this.size++;
		}

	}

}
