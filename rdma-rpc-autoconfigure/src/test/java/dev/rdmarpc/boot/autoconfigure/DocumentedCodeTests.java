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

package dev.rdmarpc.boot.autoconfigure;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.convert.ApplicationConversionService;

import static org.assertj.core.api.Assertions.assertThat;

/** What README and guides show is compiled, binds and resolves. */
class DocumentedCodeTests {

	@Test
	void javaIsPartOfCompiledSources() throws Exception {
		List<String> sources = sources();
		int blocks = 0;
		for (Path file : Documentation.files()) {
			for (String block : Documentation.blocks(file, "java")) {
				String code = normalized(block);
				assertThat(sources).as("a source with this code of %s:%n%s", file.getFileName(), block)
					.anyMatch((source) -> source.contains(code));
				blocks++;
			}
		}
		assertThat(blocks).isGreaterThan(5);
	}

	@Test
	void propertiesBind() throws Exception {
		int blocks = 0;
		for (Path file : Documentation.files()) {
			for (String block : Documentation.blocks(file, "properties")) {
				Properties properties = new Properties();
				properties.load(new StringReader(block));
				RdmaRpcProperties bound = new Binder(List.of(new MapConfigurationPropertySource(properties)), null,
						ApplicationConversionService.getSharedInstance())
					.bindOrCreate("rdma.rpc", Bindable.of(RdmaRpcProperties.class),
							new NoUnboundElementsBindHandler(BindHandler.DEFAULT, (source) -> true));
				PropertyMapping.memory(bound.memory());
				PropertyMapping.transport(bound);
				PropertyMapping.codec(bound.codec());
				PropertyMapping.iwarp(bound.iwarp(), bound.memory());
				PropertyMapping.server(bound);
				bound.client().keySet().forEach((target) -> {
					ClientSettings.of(target, bound);
					ClientAddresses.of(target, bound);
				});
				blocks++;
			}
		}
		assertThat(blocks).isGreaterThan(1);
	}

	@Test
	void dependencyIsTheStarter() throws Exception {
		String pom = normalized(Files.readString(Documentation.ROOT.resolve("rdma-rpc-spring-boot-starter/pom.xml")));
		String version = pom.replaceAll(".*?<version>(.*?)</version>.*", "$1");
		assertThat(pom).contains("<packaging>jar</packaging>");
		assertThat(Documentation.blocks(Documentation.ROOT.resolve("README.md"), "xml")).singleElement()
			.satisfies((block) -> assertThat(normalized(block))
				.isEqualTo(normalized("<dependency> <groupId>dev.rdmarpc</groupId> "
						+ "<artifactId>rdma-rpc-spring-boot-starter</artifactId> <version>" + version
						+ "</version> </dependency>")));
	}

	private static List<String> sources() throws IOException {
		List<String> sources = new ArrayList<>();
		for (String module : List.of("core", "rdma-rpc-grpc", "rdma-rpc-autoconfigure", "rdma-rpc-spring-boot-test",
				"rdma-rpc-grpc-spring-boot-starter", "sample-app")) {
			try (Stream<Path> files = Files.walk(Documentation.ROOT.resolve(module).resolve("src"))) {
				for (Path file : files.filter((path) -> path.toString().endsWith(".java")).toList()) {
					sources.add(normalized(Files.readString(file)));
				}
			}
		}
		return sources;
	}

	private static String normalized(String text) {
		return text.replaceAll("\\s+", " ").strip();
	}

}
