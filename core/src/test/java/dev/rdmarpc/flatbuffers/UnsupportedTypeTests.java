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
import java.util.Date;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.google.flatbuffers.Table;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.codec.UnsupportedTypeException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class UnsupportedTypeTests {

	@ParameterizedTest
	@MethodSource("types")
	void isReportedWithPathAndReason(Type type, String path, String reason) {
		MethodSignature method = new MethodSignature("Shop", "find", List.of("id", "query"), List.of(int.class, type),
				type);
		assertThatExceptionOfType(UnsupportedTypeException.class)
			.isThrownBy(() -> new FlatBuffersCodec().arguments(method))
			.withMessageStartingWith("Shop.find: query" + path + " has the unsupported type ")
			.withMessageContaining(reason)
			.satisfies((ex) -> assertThat(ex.path()).isEqualTo("query" + path));
		assertThatExceptionOfType(UnsupportedTypeException.class)
			.isThrownBy(() -> new FlatBuffersCodec().result(method))
			.withMessageStartingWith("Shop.find: result" + path + " has the unsupported type ");
	}

	static Stream<Arguments> types() {
		return Stream.of(Arguments.of(Object.class, "", "java.lang.Object: it says nothing about its values"),
				Arguments.of(Thread.class, "", "java.lang.Thread: use a record (supported: primitives"),
				Arguments.of(Runnable.class, "", "an interface must be sealed"),
				Arguments.of(Date.class, "", "use java.time.Instant"),
				Arguments.of(List.class, "", "java.util.List: it is a raw type"),
				Arguments.of(Page.class, "", "it is a raw type"), Arguments.of(new TypeOf<List<?>>() {
				}.type(), "", "a wildcard needs an upper bound"), Arguments.of(new TypeOf<List<? super String>>() {
				}.type(), "", "a wildcard needs an upper bound"), Arguments.of(new TypeOf<Page<Thread>>() {
				}.type(), ".items[]", "java.lang.Thread"), Arguments.of(new TypeOf<Map<String, Optional<Object>>>() {
				}.type(), "[].value?", "java.lang.Object"), Arguments.of(new TypeOf<Optional<Optional<String>>>() {
				}.type(), "", "an optional cannot hold an optional"), Arguments.of(new TypeOf<SortedSet<Holder>>() {
				}.type(), "", "Holder is not comparable"), Arguments.of(new TypeOf<EnumMap<TimeUnit, String>>() {
				}.type(), "", "use a record"), Arguments.of(Holder.class, ".content.raw", "it is a raw type"),
				Arguments.of(Shape2D.class, "", "it permits " + Open.class.getTypeName() + ", which is neither"),
				Arguments.of(Choice.class, "(Second).thread", "java.lang.Thread"),
				Arguments.of(new TypeOf<Undetermined<String>>() {
				}.type(), "", "the type argument B of its member"),
				Arguments.of(Thread[][].class, "[][]", "java.lang.Thread"),
				Arguments.of(Table.class, "", "expected: a class that flatc generated"),
				Arguments.of(new TypeOf<Endless<String>>() {
				}.type(), ".next".repeat(15), "type arguments are nested too deep"),
				Arguments.of(Page.class.getTypeParameters()[0], "", "the type variable stands for no type here"));
	}

	@Test
	void aFailedTypeLeavesNothingBehind() {
		FlatBuffersCodec codec = new FlatBuffersCodec();
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(UnsupportedTypeException.class)
				.isThrownBy(() -> codec.result(Messages.method(Holder.class)))
				.withMessageContaining("result.content.raw");
		}
	}

	record Page<T>(List<T> items, int total) {

	}

	@SuppressWarnings("rawtypes")
	record Content(int number, List raw) {

	}

	record Holder(Content content) {

	}

	record Endless<T>(T value, Endless<List<T>> next) {

	}

	sealed interface Shape2D permits Circle, Open {

	}

	record Circle(double radius) implements Shape2D {

	}

	static non-sealed class Open implements Shape2D {

	}

	sealed interface Choice {

	}

	record First(int a) implements Choice {

	}

	record Second(Thread thread) implements Choice {

	}

	sealed interface Undetermined<A> {

	}

	record Loose<A, B>(A a, B b) implements Undetermined<A> {

	}

}
