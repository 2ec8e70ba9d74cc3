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

package dev.rdmarpc.rpc;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.codec.SegmentOwner;
import dev.rdmarpc.flatbuffers.GatherMessage;
import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;

class HoldingTypesTests {

	@ParameterizedTest
	@MethodSource("holding")
	void typesThatMayHoldReceivedMemory(Method method) {
		assertThat(HoldingTypes.include(method.getGenericReturnType())).isTrue();
	}

	@ParameterizedTest
	@MethodSource("free")
	void typesThatHoldNone(Method method) {
		assertThat(HoldingTypes.include(method.getGenericReturnType())).isFalse();
	}

	@Test
	void allThatAValueHoldsIsReleased() {
		AtomicInteger released = new AtomicInteger();
		SegmentOwner held = () -> released.incrementAndGet() > 0;
		Object bottom = new Held(1, held);
		HoldingTypes.release(new Holder<>(List.of(bottom, Map.of("a", Optional.of(bottom))),
				new Held[] { null, new Held(2, held) }, Map.of(new Held(3, held), Set.of(4)), "text", held));
		assertThat(released).hasValue(5);
		HoldingTypes.release(Optional.empty());
		HoldingTypes.release(new Node("n", List.of(new Node("m", null))));
		assertThat(released).hasValue(5);
	}

	/** One that does not tell what it holds does not keep the others. */
	@Test
	void aRecordThatThrowsIsLeft() {
		AtomicInteger released = new AtomicInteger();
		SegmentOwner held = () -> released.incrementAndGet() > 0;
		HoldingTypes.release(List.of(new Broken(held), new Held(1, held)));
		assertThat(released).hasValue(1);
	}

	static List<Method> holding() {
		return Arrays.asList(Holding.class.getDeclaredMethods());
	}

	static List<Method> free() {
		return Arrays.asList(Free.class.getDeclaredMethods());
	}

	/** Methods named for what they return. */
	@SuppressWarnings("unused") // reflection
	interface Holding<T> {

		RegisteredBuffer buffer();

		GatherMessage message();

		Letter component();

		Page deepComponent();

		RegisteredBuffer[] array();

		Page[][] arrayOfArrays();

		List<RegisteredBuffer> element();

		List<RegisteredBuffer>[] arrayOfLists();

		Map<String, List<Page[]>> value();

		Optional<? extends Letter> wildcard();

		Post permitted();

		T unknown();

	}

	/** The same for what holds nothing. */
	@SuppressWarnings("unused") // reflection
	interface Free {

		byte[] bytes();

		String text();

		ByteBuffer view();

		List<byte[]> element();

		int[][] arrayOfArrays();

		Node cycle();

		Node[] arrayOfCycles();

		List<?> wildcard();

		Map<String, Optional<Node>> value();

		void nothing();

	}

	record Held(int number, SegmentOwner memory) {

	}

	record Holder<T>(List<T> list, Held[] array, Map<Held, Set<Integer>> map, String text, T unknown) {

	}

	record Broken(SegmentOwner memory) {

		@Override
		public SegmentOwner memory() {
			throw new IllegalStateException("broken");
		}

	}

	record Letter(int number, RegisteredBuffer content) {

	}

	record Page(List<Letter[]> letters) {

	}

	record Node(String name, List<Node> children) {

	}

	sealed interface Post permits Parcel, Card {

	}

	record Parcel(Page content) implements Post {

	}

	record Card(String text) implements Post {

	}

}
