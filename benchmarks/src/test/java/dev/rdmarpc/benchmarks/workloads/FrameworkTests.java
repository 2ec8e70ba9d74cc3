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

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.benchmarks.workloads.peer.WorkloadPeer;
import dev.rdmarpc.benchmarks.workloads.store.CoreRun;
import dev.rdmarpc.benchmarks.workloads.store.KeyValueStore;
import dev.rdmarpc.benchmarks.workloads.tensors.Model;
import dev.rdmarpc.benchmarks.workloads.tensors.Worker;

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
		TreeMap<String, Map<String, byte[]>> model = new TreeMap<>();
		try (WorkloadPeer.Server server = peer.serve(1);
				WorkloadPeer.Client client = peer.connect(List.of(server.port()))) {
			KeyValueStore store = client.store();
			for (int i = 0; i < 400; i++) {
				String key = "user" + random.nextInt(40);
				String what = "step " + i + " of seed " + seed;
				switch (random.nextInt(5)) {
					case 0 -> {
						Map<String, byte[]> record = values(random, 3);
						assertThat(store.insert(key, record)).as(what).isTrue();
						model.put(key, new HashMap<>(record));
					}
					case 1 -> {
						Map<String, byte[]> record = values(random, 1);
						assertThat(store.update(key, record)).as(what).isEqualTo(model.containsKey(key));
						model.computeIfPresent(key, (same, old) -> {
							old.putAll(record);
							return old;
						});
					}
					case 2 -> assertThat(store.delete(key)).as(what).isEqualTo(model.remove(key) != null);
					case 3 -> assertThat(texts(store.read(key, List.of()))).as(what)
						.isEqualTo(texts(model.getOrDefault(key, Map.of())));
					default -> assertThat(store.scan(key, 5, List.of()).stream().map(FrameworkTests::texts).toList())
						.as(what)
						.isEqualTo(model.tailMap(key).values().stream().limit(5).map(FrameworkTests::texts).toList());
				}
			}
			assertThat(store.blob(100_000)).hasSize(100_000);
			Map<String, byte[]> record = values(random, 3);
			store.insert("selected", record);
			assertThat(store.read("selected", List.of("field1"))).containsOnlyKeys("field1");
			assertThat(
					texts(client.reads(Duration.ofSeconds(60)).read("selected", List.of()).get(60, TimeUnit.SECONDS)))
				.isEqualTo(texts(record));
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

	private static Map<String, byte[]> values(Random random, int fields) {
		Map<String, byte[]> values = new HashMap<>();
		for (int i = 0; i < fields; i++) {
			byte[] value = new byte[random.nextInt(300)];
			random.nextBytes(value);
			values.put("field" + i, value);
		}
		return values;
	}

	private static Map<String, String> texts(Map<String, byte[]> values) {
		return values.entrySet()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, (entry) -> Arrays.toString(entry.getValue())));
	}

}
