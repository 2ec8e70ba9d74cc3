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

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

/** Calls of several priorities on one connection. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcPriorityTests {

	private static final int LARGE = 8 << 20;

	@ParameterizedTest
	@ValueSource(strings = { "iwarp", "shm" })
	void allClassesAreServedBesideEachOther(String provider) throws Exception {
		RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
		try (RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS.withProvider(provider, ""), memory);
				RpcServer server = RpcServer.builder()
					.transport(transport)
					.options(RpcServerOptions.DEFAULTS.withLoopback(0))
					.service(Values.class, new Holder())
					.build()
					.start();
				RpcClient client = RpcClient.builder()
					.transport(transport)
					.target("127.0.0.1", server.port())
					.options(RpcClientOptions.DEFAULTS.withDefaultDeadline(Duration.ofSeconds(50))
						.withChannel(ChannelOptions.DEFAULTS))
					.build()) {
			Values values = client.proxy(Values.class);
			RegisteredBuffer large = memory.allocate(LARGE);
			List<CompletableFuture<Integer>> uploads = new ArrayList<>();
			List<CompletableFuture<byte[]>> calls = new ArrayList<>();
			for (int i = 0; i < 6; i++) {
				for (Priority priority : Priority.values()) {
					Values own = CallOptions.NONE.withPriority(priority).on(values);
					uploads.add(own.put(large));
					for (int j = 0; j < 20; j++) {
						calls.add(own.get((byte) (i + j), 64 + 997 * j));
					}
				}
			}
			for (CompletableFuture<Integer> upload : uploads) {
				assertThat(upload.get(50, TimeUnit.SECONDS)).isEqualTo(LARGE);
			}
			for (int i = 0; i < calls.size(); i++) {
				int call = i;
				byte[] expected = new byte[64 + 997 * (i % 20)];
				Arrays.fill(expected, (byte) (i / 60 + i % 20));
				assertThat(calls.get(i).get(50, TimeUnit.SECONDS)).as(() -> "call " + call).isEqualTo(expected);
			}
			for (Priority priority : Priority.values()) {
				assertThat(slices(transport, priority)).as("slices of %s", priority)
					.isGreaterThanOrEqualTo(6 * LARGE / (256 << 10));
			}
			large.release();
		}
		assertThat(memory.metrics().outstanding()).isZero();
		memory.close();
	}

	@Test
	void callsHaveTheirOwnPriorityThenThatOfTheirMethodThenThatOfTheClient() {
		ServiceDescriptor service = ServiceDescriptor.of(Values.class, new FlatBuffersCodec());
		MethodDescriptor put = find(service, "put");
		MethodDescriptor urgent = find(service, "urgent");
		MethodDescriptor usual = find(service, "usual");
		assertThat(put.template(Priority.HIGH, Priority.LOW).priority()).isEqualTo(Priority.HIGH.code());
		assertThat(put.template(null, Priority.LOW).priority()).isEqualTo(Priority.LOW.code());
		assertThat(put.template(null, Priority.NORMAL).priority()).isEqualTo(Priority.NORMAL.code());
		assertThat(urgent.template(null, Priority.LOW).priority()).isEqualTo(Priority.HIGH.code());
		assertThat(urgent.template(Priority.NORMAL, Priority.LOW).priority()).isEqualTo(Priority.NORMAL.code());
		assertThat(usual.template(null, Priority.LOW).priority()).isEqualTo(Priority.NORMAL.code());
		assertThat(usual.template(null, Priority.HIGH).priority()).isEqualTo(Priority.NORMAL.code());
		assertThat(usual.template(Priority.HIGH, Priority.LOW).priority()).isEqualTo(Priority.HIGH.code());
		assertThat(service.methods()).extracting(MethodDescriptor::name, MethodDescriptor::priority)
			.containsExactlyInAnyOrder(tuple("put", null), tuple("get", null), tuple("store", null),
					tuple("usual", Priority.NORMAL), tuple("urgent", Priority.HIGH));
	}

	@Test
	void requestsOfAClientWithLowPriorityHaveThatOfTheirMethodOrTheirCallIfThereIsOne() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Values.class, new Holder());
				RpcClient client = fixture.newClient(server, (options) -> options.withPriority(Priority.LOW))) {
			Values values = client.proxy(Values.class);
			byte[] value = new byte[1 << 20];
			assertThat(values.store(value)).isEqualTo(value.length);
			assertThat(classesRead(fixture)).containsExactly(Priority.LOW);
			assertThat(values.usual(value)).isEqualTo(value.length);
			assertThat(classesRead(fixture)).containsExactly(Priority.LOW, Priority.NORMAL);
			assertThat(CallOptions.NONE.withPriority(Priority.HIGH).on(values).usual(value)).isEqualTo(value.length);
			assertThat(classesRead(fixture)).containsExactly(Priority.values());
		}
	}

	@Test
	void aMethodHasOnePriorityAtMost() {
		assertThatExceptionOfType(InvalidInterfaceException.class)
			.isThrownBy(() -> ServiceDescriptor.of("undecided", Undecided.class, new FlatBuffersCodec()))
			.withMessage("@RdmaMethod(priority = { HIGH, LOW }) on " + Undecided.class.getName()
					+ "/find has 2 values (expected: at most one): keep one of them, or none to have that of the client");
	}

	/** Of which priorities the server has read large requests. */
	private static List<Priority> classesRead(RpcFixture fixture) {
		return Arrays.stream(Priority.values())
			.filter((priority) -> slices(fixture.serverTransport, priority) > 0)
			.toList();
	}

	private static long slices(RdmaTransport transport, Priority priority) {
		return transport.loops().stream().mapToLong((loop) -> loop.metrics().classes().slices(priority.code())).sum();
	}

	private static MethodDescriptor find(ServiceDescriptor service, String name) {
		return service.methods().stream().filter((method) -> method.name().equals(name)).findFirst().orElseThrow();
	}

	/** Of the tests. */
	public interface Values {

		CompletableFuture<Integer> put(RegisteredBuffer value);

		CompletableFuture<byte[]> get(byte filling, int length);

		int store(byte[] value);

		@RdmaMethod(priority = Priority.NORMAL)
		int usual(byte[] value);

		@RdmaMethod(priority = Priority.HIGH)
		int urgent();

	}

	/** No service. */
	interface Undecided {

		@RdmaMethod(name = "search", priority = { Priority.HIGH, Priority.LOW })
		int find();

	}

	private static final class Holder implements Values {

		@Override
		public CompletableFuture<Integer> put(RegisteredBuffer value) {
			ByteBuffer bytes = value.buffer();
			return CompletableFuture.completedFuture(bytes.remaining());
		}

		@Override
		public CompletableFuture<byte[]> get(byte filling, int length) {
			byte[] value = new byte[length];
			Arrays.fill(value, filling);
			return CompletableFuture.completedFuture(value);
		}

		@Override
		public int store(byte[] value) {
			return value.length;
		}

		@Override
		public int usual(byte[] value) {
			return value.length;
		}

		@Override
		public int urgent() {
			return 1;
		}

	}

}
