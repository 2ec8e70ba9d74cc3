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

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.Year;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.codec.MethodSignature;

import static org.assertj.core.api.Assertions.assertThat;

/** Digests of methods, and what contradicts what in them. */
class SchemaDifferenceTests {

	private final FlatBuffersCodec codec = new FlatBuffersCodec();

	private static final Map<String, Method> METHODS = Arrays.stream(Methods.class.getMethods())
		.collect(Collectors.toMap(Method::getName, (method) -> method));

	private String digest(String name) {
		Method method = METHODS.get(name);
		List<String> names = IntStream.range(0, method.getParameterCount()).mapToObj((i) -> "p" + i).toList();
		List<Type> types = List.of(method.getGenericParameterTypes());
		return this.codec.digest(new MethodSignature("service", name, names, types, method.getGenericReturnType()));
	}

	private String difference(String own, String peers) {
		return this.codec.difference(digest(own), digest(peers));
	}

	@Test
	void theDigestHasTypesOnly() {
		assertThat(digest("nothing")).isEqualTo("() -> void");
		assertThat(digest("small")).isEqualTo("(bool, byte, ushort, short, long, float, double) -> int");
		assertThat(digest("times")).isEqualTo("(Instant, long, int, UUID) -> [UUID]");
		assertThat(digest("bytes")).isEqualTo("([ubyte], [ubyte], [int], string) -> t0; t0 {[ubyte], int}");
		assertThat(digest("tree")).isEqualTo("(t0) -> [t0]; t0 {string, [t0]}");
		assertThat(digest("shapes")).isEqualTo("(u0, [t3]) -> void; u0 {t1, t2}; t1 {double}; t2 {int, int}; t3 {u0}");
		assertThat(digest("map")).isEqualTo("([t0]) -> [t2]; t0 {string, t1}; t1 {string, [t1]}; t2 {int}");
		assertThat(digest("message")).isEqualTo("(any) -> any");
		assertThat(digest("messages")).isEqualTo("([ubyte], [ubyte]) -> void");
	}

	@Test
	void digestsDoNotDependOnWhatWasCompiledBefore() {
		Map<String, String> first = new HashMap<>();
		METHODS.keySet().stream().sorted().forEach((name) -> first.put(name, digest(name)));
		METHODS.keySet().forEach((name) -> {
			Method method = METHODS.get(name);
			List<String> names = IntStream.range(0, method.getParameterCount()).mapToObj((i) -> "q" + i).toList();
			assertThat(new FlatBuffersCodec().digest(new MethodSignature("other", name, names,
					List.of(method.getGenericParameterTypes()), method.getGenericReturnType())))
				.isEqualTo(first.get(name));
		});
	}

	@Test
	void compatibleChangesPass() {
		assertCompatible("tree", "newerTree");
		assertCompatible("shapes", "moreShapes");
		assertCompatible("boxed", "optional");
		assertCompatible("arrays", "collections");
		assertCompatible("nothing", "small");
		assertCompatible("message", "tree");
		assertCompatible("tree", "treeAndMore");
	}

	private void assertCompatible(String one, String other) {
		assertThat(difference(one, other)).as(one + ", " + other).isNull();
		assertThat(difference(other, one)).as(other + ", " + one).isNull();
	}

	@Test
	void otherChangesAreNamed() {
		assertThat(difference("small", "times")).isEqualTo("parameter 1 is bool and Instant");
		assertThat(difference("tree", "otherTree"))
			.isEqualTo("an element of parameter 1, field 2, field 1 is string and long");
		assertThat(difference("shapes", "swappedShapes")).isEqualTo("parameter 1, member 1, field 1 is double and int");
		assertThat(difference("times", "bytes")).isEqualTo("parameter 1 is Instant and a vector of ubyte");
		assertThat(difference("tree", "shapes")).isEqualTo("parameter 1 is a table and a union");
		assertThat(difference("number", "text")).isEqualTo("the result is int and string");
	}

	@Test
	@Timeout(value = 60, unit = TimeUnit.SECONDS)
	void whatAPeerSaysIsReadWithinLimits() {
		String own = digest("tree");
		for (String text : List.of("", "x", "(", "() ->", "() -> ", "(,) -> int", "() -> int; ", "() -> int; t0",
				"() -> int; t0 {", "() -> [[int]]", "() -> [", "(\u00e9) -> int")) {
			assertThat(this.codec.difference(own, text)).as(text).isEqualTo("it cannot be read");
		}
		assertThat(this.codec.difference(own, "(t0) -> [t0]; t0 {t0, t0}"))
			.isEqualTo("parameter 1, field 1 is string and a table");
		assertThat(this.codec.difference(own, "(t9) -> [t9]")).isEqualTo("parameter 1 is a table and a table");
		String chain = IntStream.range(0, 20_000)
			.mapToObj((i) -> "; t" + i + " {string, [t" + (i + 1) + "]}")
			.collect(Collectors.joining());
		assertThat(this.codec.difference(own, "(t0) -> [t0]" + chain))
			.isEqualTo("there are too many tables to compare");
	}

	@Test
	void mutatedDigestsAreReadOrRefused() {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		List<String> all = METHODS.keySet().stream().sorted().map(this::digest).toList();
		for (int i = 0; i < 20_000; i++) {
			String own = all.get(random.nextInt(all.size()));
			StringBuilder peers = new StringBuilder(own);
			for (int n = random.nextInt(4); n >= 0 && !peers.isEmpty(); n--) {
				int at = random.nextInt(peers.length());
				switch (random.nextInt(3)) {
					case 0 -> peers.deleteCharAt(at);
					case 1 -> peers.setCharAt(at, "tu0123[](){};, ->".charAt(random.nextInt(17)));
					default -> peers.insert(at, own, 0, random.nextInt(own.length()));
				}
			}
			assertThat(String.valueOf(this.codec.difference(own, peers.toString()))).as("seed " + seed + ": " + peers)
				.isNotEmpty();
		}
	}

	/** Signatures. */
	interface Methods {

		void nothing();

		int small(boolean a, byte b, char c, short d, long e, float f, double g);

		List<UUID> times(Instant a, LocalDate b, Year c, UUID d);

		BigDecimal bytes(byte[] a, ByteBuffer b, int[] c, Color d);

		List<Tree> tree(Tree a);

		List<NewerTree> newerTree(NewerTree a);

		List<Tree> treeAndMore(Tree a, int more);

		void otherTree(OtherTree a);

		void shapes(Figure a, List<Figure> b);

		void moreShapes(MoreFigures a, List<MoreFigures> b);

		void swappedShapes(SwappedFigures a);

		List<Optional<Integer>> map(Map<String, Tree> a);

		GatherMessage message(GatherMessage a);

		void messages(GatherMessage a, GatherMessage b);

		void boxed(Integer a, int b, byte[] c);

		void optional(OptionalInt a, Integer b, ByteBuffer c);

		void arrays(int[] a, String[] b, Tree[] c);

		void collections(List<Integer> a, Set<String> b, List<Tree> c);

		int number();

		String text();

	}

	enum Color {

		RED

	}

	record Tree(String name, List<Tree> children) {

	}

	record NewerTree(String title, List<NewerTree> parts, long size) {

	}

	record OtherTree(String name, List<OtherBranch> children) {

	}

	record OtherBranch(long name) {

	}

	sealed interface Figure permits Circle, Box {

	}

	record Circle(double radius) implements Figure, MoreFigures {

	}

	record Box(int width, int height) implements Figure, MoreFigures {

	}

	sealed interface MoreFigures permits Circle, Box, Dot {

	}

	record Dot() implements MoreFigures {

	}

	sealed interface SwappedFigures permits FirstBox {

	}

	record FirstBox(int width) implements SwappedFigures {

	}

}
