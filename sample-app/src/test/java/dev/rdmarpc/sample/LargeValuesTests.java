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

package dev.rdmarpc.sample;

import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.sample.store.FeatureStore;
import dev.rdmarpc.transport.LoopMetrics;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Large values on their whole way: socket, façade, store, and back. When the application
 * has ended, nothing of them is left.
 */
class LargeValuesTests {

	private static final long SEED = 20_261_121;

	private final ConfigurableApplicationContext context = new SpringApplicationBuilder(SampleApplication.class).run(
			"--server.port=0", "--rdma.rpc.server.port=0", "--rdma.rpc.client.features.deadline=60s",
			"--rdma.rpc.memory.max=64MB", "--rdma.rpc.memory.leak-detection=paranoid");

	private final RegisteredMemory memory = this.context.getBean(RegisteredMemory.class);

	private final HttpClient http = HttpClient.newHttpClient();

	private final Random random = new Random(SEED);

	@AfterEach
	void nothingIsOutstanding() {
		this.context.close();
		assertThat(this.memory.metrics().outstanding()).isZero();
		assertThat(this.memory.metrics().leaks()).isZero();
	}

	@Test
	void arriveAsTheyWereSent() throws Exception {
		for (int length : new int[] { 0, 1, 8000, 40_000, 5_000_001 }) {
			byte[] value = new byte[length];
			this.random.nextBytes(value);
			assertThat(put("model", BodyPublishers.ofByteArray(value))).isEqualTo(204);
			HttpResponse<byte[]> response = get("model");
			assertThat(response.statusCode()).isEqualTo(200);
			assertThat(response.body()).as("%d bytes, seed %d", length, SEED).isEqualTo(value);
		}
		assertThat(get("nothing").statusCode()).isEqualTo(404);
	}

	@Test
	void areReadFromWhereTheyLie() throws Exception {
		byte[] value = new byte[3 << 20];
		this.random.nextBytes(value);
		long before = read();
		assertThat(put("model", BodyPublishers.ofByteArray(value))).isEqualTo(204);
		assertThat(read() - before).as("bytes read by the store").isGreaterThan(value.length);
		assertThat(get("model").body()).as("seed %d", SEED).isEqualTo(value);
		assertThat(read() - before).as("bytes read by store and façade").isGreaterThan(2L * value.length);
	}

	private long read() {
		return this.context.getBean(RdmaTransport.class)
			.loops()
			.stream()
			.map((loop) -> loop.metrics())
			.mapToLong(LoopMetrics::readBytes)
			.sum();
	}

	@Test
	void thatAreTooLargeOrOfUnknownLengthAreRefused() throws Exception {
		byte[] value = new byte[(16 << 20) + 1];
		assertThat(put("model", BodyPublishers.ofByteArray(value))).isEqualTo(413);
		assertThat(put("model", BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(value)))).isEqualTo(411);
		assertThat(get("model").statusCode()).isEqualTo(404);
	}

	@Test
	void areBoundedTogether() {
		FeatureStore store = (FeatureStore) this.context.getBean("features.featureStore");
		RegisteredBuffer value = this.memory.allocate(10 << 20);
		try {
			for (int i = 0; i < 10; i++) {
				store.putBlob("same", value);
			}
			store.putBlob("second", value);
			store.putBlob("third", value);
			assertThatExceptionOfType(RpcException.class).isThrownBy(() -> store.putBlob("fourth", value))
				.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED))
				.withMessageContaining("limit 33554432");
			assertThat(store.getBlob("fourth")).isEmpty();
		}
		finally {
			value.release();
		}
	}

	@Test
	void thatAreSmallTakeNoMoreThanTheyNeed() {
		FeatureStore store = (FeatureStore) this.context.getBean("features.featureStore");
		RegisteredBuffer value = this.memory.allocate(10);
		try {
			long before = this.memory.metrics().allocatedBytes();
			for (int i = 0; i < 1000; i++) {
				store.putBlob("small " + i, value);
			}
			assertThat(this.memory.metrics().allocatedBytes() - before).isLessThan(1000 * 1024);
			store.getBlob("small 7").orElseThrow().release();
		}
		finally {
			value.release();
		}
	}

	@Test
	void callersInTheProcessOfTheStoreOwnWhatTheyGetToo() {
		FeatureStore local = (FeatureStore) this.context.getBean("inMemoryFeatureStore");
		RegisteredBuffer value = this.memory.allocate(100_000);
		byte[] bytes = new byte[100_000];
		Arrays.fill(bytes, (byte) 5);
		value.buffer().put(bytes);
		local.putBlob("model", value);
		value.release();
		RegisteredBuffer got = local.getBlob("model").orElseThrow();
		RegisteredBuffer other = this.memory.allocate(1);
		local.putBlob("model", other);
		other.release();
		assertThat(got.buffer().get(99_999)).isEqualTo((byte) 5);
		assertThat(got.release()).isTrue();
	}

	private int put(String key, BodyPublisher body) throws Exception {
		HttpRequest request = HttpRequest.newBuilder(uri(key))
			.timeout(Duration.ofSeconds(60))
			.header("Content-Type", "application/octet-stream")
			.PUT(body)
			.build();
		return this.http.send(request, BodyHandlers.discarding()).statusCode();
	}

	private HttpResponse<byte[]> get(String key) throws Exception {
		HttpRequest request = HttpRequest.newBuilder(uri(key)).timeout(Duration.ofSeconds(60)).build();
		return this.http.send(request, BodyHandlers.ofByteArray());
	}

	private URI uri(String key) {
		return URI.create("http://127.0.0.1:" + this.context.getEnvironment().getProperty("local.server.port")
				+ "/features/" + key + "/blob");
	}

}
