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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.awaitility.Awaitility.await;

/** The load generator as its user sees it. */
@ExtendWith(OutputCaptureExtension.class)
class LoadGeneratorTests {

	@Test
	void printsProgressAndAHistogram(CapturedOutput output) {
		try (ConfigurableApplicationContext context = run(
				Map.of("load.enabled", true, "load.warmup", "100ms", "load.duration", "1500ms", "load.threads", 2,
						"load.rate", 200, "load.mix.get", 3, "load.mix.put", 1, "load.blob-size", "64KB"))) {
			awaitReport(output);
			assertThat(output.getOut()).contains("2 threads, 200 calls/s")
				.contains("calls/s   p50")
				.containsPattern("(?m)^get +\\d+")
				.containsPattern("(?m)^put +\\d+")
				.doesNotContain("failed with");
			assertThat(context.isActive()).isTrue();
		}
	}

	@Test
	void largeValuesAreReportedAndNothingOfThemIsLeft(CapturedOutput output) {
		RegisteredMemory memory;
		try (ConfigurableApplicationContext context = run(Map.of("load.enabled", true, "load.warmup", "100ms",
				"load.duration", "1s", "load.threads", 2, "load.mix.get-blob", 2, "load.mix.put-blob", 1,
				"load.blob-size", "256KB", "rdma.rpc.memory.leak-detection", "paranoid"))) {
			memory = context.getBean(RegisteredMemory.class);
			awaitReport(output);
			assertThat(output.getOut()).containsPattern("(?m)^put_blob +[1-9]")
				.containsPattern("(?m)^get_blob +[1-9]")
				.containsPattern("large values: [1-9][\\d.,]* MB/s to the store, [1-9][\\d.,]* MB/s from it")
				.doesNotContain("failed with");
		}
		assertThat(memory.metrics().outstanding()).isZero();
		assertThat(memory.metrics().leaks()).isZero();
	}

	@Test
	void endsWhereTheStoreCannotBeFilled(CapturedOutput output) {
		try (ConfigurableApplicationContext context = run(Map.of("load.enabled", true, "load.duration", "1s",
				"load.exit", true, "load.mix.put-blob", 1, "load.blob-size", "20MB"))) {
			await().atMost(Duration.ofMinutes(1)).until(() -> !context.isActive());
			assertThat(output.getOut()).contains("No load, since the store cannot be filled: ", "RESOURCE_EXHAUSTED")
				.doesNotContain("Waiting for the store", "NaN");
		}
	}

	@Test
	void refusesWhatMakesNoSense() {
		assertThatException().isThrownBy(() -> run(Map.of("load.threads", 0)).close())
			.havingRootCause()
			.withMessage("load.threads = 0 (expected: 1 to 1024)");
	}

	private static void awaitReport(CapturedOutput output) {
		await().atMost(Duration.ofMinutes(1)).until(() -> output.getOut().contains("#[Mean"));
	}

	private static ConfigurableApplicationContext run(Map<String, Object> properties) {
		List<String> arguments = new ArrayList<>(
				List.of("--rdma.rpc.server.port=0", "--server.port=0", "--rdma.rpc.client.features.deadline=1m"));
		properties.forEach((name, value) -> arguments.add("--" + name + "=" + value));
		return new SpringApplicationBuilder(SampleApplication.class).run(arguments.toArray(String[]::new));
	}

}
