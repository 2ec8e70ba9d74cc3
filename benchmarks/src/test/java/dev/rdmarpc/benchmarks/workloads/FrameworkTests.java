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

import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.benchmarks.workloads.peer.WorkloadPeer;
import dev.rdmarpc.benchmarks.workloads.store.AsyncReads;
import dev.rdmarpc.benchmarks.workloads.store.CoreRun;
import dev.rdmarpc.benchmarks.workloads.tensors.Model;
import dev.rdmarpc.benchmarks.workloads.tensors.Worker;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.sample.store.FeaturePage;
import dev.rdmarpc.sample.store.FeatureStore;
import dev.rdmarpc.sample.store.FeatureVector;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * All frameworks give the same answers. That no registered memory is outstanding at the
 * end is what closing them checks.
 */
class FrameworkTests {

	private static final Duration FORWARD = Duration.ofMillis(5);

	private static List<String> frameworks() {
		return Framework.names();
	}

	@ParameterizedTest
	@MethodSource("frameworks")
	void storeAnswersAsAModelDoes(String name) throws Exception {
		long seed = 20_26;
		Random random = new Random(seed);
		WorkloadPeer peer = Framework.named(name);
		TreeMap<String, FeatureVector> model = new TreeMap<>();
		Instant begun = Instant.now().minusSeconds(60);
		try (WorkloadPeer.Server server = peer.serve(1);
				WorkloadPeer.Client client = peer.connect(List.of(server.port()))) {
			FeatureStore store = client.store();
			AsyncReads reads = client.reads(Duration.ofSeconds(60));
			for (int i = 0; i < 400; i++) {
				String key = "user" + random.nextInt(40);
				String what = "step " + i + " of seed " + seed;
				Optional<String> after = Optional.of(key).filter((same) -> random.nextInt(9) != 0);
				switch (random.nextInt(5)) {
					case 0 -> {
						float[] values = values(random);
						FeatureVector old = model.get(key);
						long version = (old != null) ? old.version() + 1 : 1;
						assertThat(store.put(key, values)).as(what).isEqualTo(version);
						model.put(key, new FeatureVector(key, version, begun, values));
					}
					case 1 -> assertThat(texts(store.get(key))).as(what)
						.isEqualTo(texts(Optional.ofNullable(model.get(key))));
					case 2 -> assertThat(texts(reads.get(key).get(60, TimeUnit.SECONDS))).as(what)
						.isEqualTo(texts(Optional.ofNullable(model.get(key))));
					case 3 -> assertThat(texts(store.multiGet(List.of(key, "user7", "nobody")))).as(what)
						.isEqualTo(texts(Stream.of(key, "user7").map(model::get).filter(Objects::nonNull).toList()));
					default -> {
						FeaturePage page = store.scan("user", after, 5);
						List<FeatureVector> left = List.copyOf(model.tailMap(after.orElse(""), false).values());
						assertThat(texts(page.vectors())).as(what)
							.isEqualTo(texts(left.subList(0, Math.min(5, left.size()))));
						assertThat(page.next()).as(what)
							.isEqualTo((left.size() > 5) ? Optional.of(left.get(4).key()) : Optional.empty());
					}
				}
			}
			assertThat(store.get(model.firstKey()).orElseThrow().updatedAt()).isBetween(begun,
					Instant.now().plusSeconds(60));
		}
	}

	@ParameterizedTest
	@MethodSource("frameworks")
	void largeValuesComeBackAsTheyWere(String name) throws Exception {
		WorkloadPeer peer = Framework.named(name);
		try (WorkloadPeer.Server server = peer.serve(1);
				WorkloadPeer.Client client = peer.connect(List.of(server.port()))) {
			FeatureStore store = client.store();
			assertThat(store.getBlob("large")).isEmpty();
			for (int length : new int[] { 1, 100_000, 5 << 20 }) {
				byte[] bytes = new byte[length];
				new Random(length).nextBytes(bytes);
				RegisteredBuffer sent = client.memory().allocate(length);
				sent.buffer().put(bytes);
				store.putBlob("large", sent);
				sent.release();
				RegisteredBuffer found = store.getBlob("large").orElseThrow();
				assertThat(found.buffer()).isEqualTo(ByteBuffer.wrap(bytes));
				found.release();
			}
		}
	}

	@ParameterizedTest
	@MethodSource("frameworks")
	void readsOfTheCoreWorkloadFindWhatWasInserted(String name) throws Exception {
		WorkloadPeer peer = Framework.named(name);
		try (WorkloadPeer.Server server = peer.serve(1);
				WorkloadPeer.Client client = peer.connect(List.of(server.port()))) {
			assertThat(new CoreRun(client.store(), "d", 20).run(3, TimeUnit.MILLISECONDS.toNanos(50)))
				.startsWith("all:")
				.contains(" read:");
		}
	}

	@ParameterizedTest
	@MethodSource("frameworks")
	void workersGetTheSumsOfEachStep(String name) throws Exception {
		WorkloadPeer peer = Framework.named(name);
		try (WorkloadPeer.Server one = peer.serve(2);
				WorkloadPeer.Server other = peer.serve(2);
				WorkloadPeer.Client client = peer.connect(List.of(one.port(), other.port()))) {
			try (Worker first = client.worker(Model.SMALL, 0, 2, FORWARD);
					Worker second = client.worker(Model.SMALL, 1, 2, FORWARD)) {
				List<CompletableFuture<Void>> runs = new ArrayList<>();
				for (Worker worker : List.of(first, second)) {
					CompletableFuture<Void> run = new CompletableFuture<>();
					runs.add(run);
					new Thread(() -> {
						try {
							for (int step = 0; step < 4; step++) {
								worker.step(step, true);
							}
							run.complete(null);
						}
						catch (Throwable ex) {
							run.completeExceptionally(ex);
						}
					}, "worker").start();
				}
				for (CompletableFuture<Void> run : runs) {
					run.get(120, TimeUnit.SECONDS);
				}
			}
		}
	}

	/** Of any bits. */
	private static float[] values(Random random) {
		float[] values = new float[random.nextInt(300)];
		for (int i = 0; i < values.length; i++) {
			values[i] = Float.intBitsToFloat(random.nextInt());
		}
		return values;
	}

	private static List<String> texts(Optional<FeatureVector> found) {
		return texts(found.stream().toList());
	}

	private static List<String> texts(List<FeatureVector> vectors) {
		return vectors.stream().map((vector) -> {
			IntStream bits = IntStream.range(0, vector.values().length)
				.map((i) -> Float.floatToRawIntBits(vector.values()[i]));
			return vector.key() + " " + vector.version() + " " + Arrays.toString(bits.toArray());
		}).toList();
	}

}
