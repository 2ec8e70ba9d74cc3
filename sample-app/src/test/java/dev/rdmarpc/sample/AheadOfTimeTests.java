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

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplicationAotProcessor;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import dev.rdmarpc.sample.store.FeatureStore;
import dev.rdmarpc.sample.store.FeatureVector;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What {@code process-aot} generates of the sample starts, serves and calls. The virtual
 * machine runs it like a native image, but for reflection without hints.
 */
class AheadOfTimeTests {

	@TempDir
	private Path directory;

	@Test
	void whatIsGeneratedServes() throws Exception {
		Path sources = this.directory.resolve("sources");
		Path resources = this.directory.resolve("resources");
		Path classes = this.directory.resolve("classes");
		SpringApplicationAotProcessor.main(new String[] { SampleApplication.class.getName(), sources.toString(),
				resources.toString(), classes.toString(), "dev.rdmarpc", "rdma-rpc-sample-app" });
		compile(sources, classes);
		assertThat(Files.readString(metadata(resources))).contains(FeatureStore.class.getName(),
				FeatureVector.class.getName());
		String classPath = String.join(File.pathSeparator, classes.toString(), resources.toString(),
				System.getProperty("java.class.path"));
		try (ServerProcess server = ServerProcess.start(this.directory.resolve("server.log"),
				List.of("-Dspring.aot.enabled=true", "-cp", classPath), "--rdma.rpc.server.port=0");
				ConfigurableApplicationContext client = new SpringApplicationBuilder(SampleApplication.class)
					.profiles("client")
					.run("--server.port=0", "--rdma.rpc.client.features.deadline=1m",
							"--rdma.rpc.client.features.wait-for-ready=true",
							"--rdma.rpc.client.features.host=127.0.0.1",
							"--rdma.rpc.client.features.port=" + server.port())) {
			FeatureStore store = client.getBean(FeatureStore.class);
			store.put("key", new float[] { 1, 2 });
			assertThat(store.get("key")).map(FeatureVector::values).contains(new float[] { 1, 2 });
			assertThat(store.get("other")).isEqualTo(Optional.empty());
			assertThat(Files.readString(this.directory.resolve("server.log"))).contains("AOT-processed");
		}
	}

	private static Path metadata(Path resources) throws Exception {
		try (Stream<Path> files = Files.walk(resources)) {
			return files.filter((file) -> file.endsWith("reachability-metadata.json")).findFirst().orElseThrow();
		}
	}

	private static void compile(Path sources, Path classes) throws Exception {
		Files.createDirectories(classes);
		List<String> arguments = new ArrayList<>(
				List.of("-d", classes.toString(), "-proc:none", "-nowarn", "-Xlint:none", "-parameters", "-cp",
						classes + File.pathSeparator + System.getProperty("java.class.path")));
		try (Stream<Path> files = Files.walk(sources)) {
			files.map(Path::toString).filter((file) -> file.endsWith(".java")).forEach(arguments::add);
		}
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		assertThat(compiler.run(null, null, null, arguments.toArray(String[]::new))).isZero();
	}

}
