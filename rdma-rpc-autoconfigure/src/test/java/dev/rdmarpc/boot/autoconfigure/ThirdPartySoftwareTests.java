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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The section about third-party software names what the POMs of the project bring. */
class ThirdPartySoftwareTests {

	private static final Pattern DEPENDENCY = Pattern
		.compile("<dependency>\\s*(?:<!--.*?-->\\s*)?<groupId>([^<]+)</groupId>", Pattern.DOTALL);

	private static final Pattern PLUGIN = Pattern.compile("<(?:plugin|path)>\\s*<groupId>([^<]+)</groupId>");

	@Test
	void everyLibraryIsNamed() throws Exception {
		String architecture = Files.readString(Documentation.ROOT.resolve("docs/architecture.md"));
		String section = architecture.substring(architecture.indexOf("\n## Third-party software"));
		Set<String> groups = new LinkedHashSet<>();
		for (Path pom : poms()) {
			String text = Files.readString(pom);
			for (Pattern pattern : new Pattern[] { DEPENDENCY, PLUGIN }) {
				Matcher matcher = pattern.matcher(text);
				while (matcher.find()) {
					groups.add(matcher.group(1));
				}
			}
		}
		groups.remove("dev.rdmarpc");
		assertThat(groups).hasSizeGreaterThan(15)
			.allSatisfy((group) -> assertThat(section).contains("`" + group))
			.contains("org.springframework.boot", "org.jctools", "io.grpc");
	}

	private static Set<Path> poms() throws IOException {
		Set<Path> poms = new LinkedHashSet<>();
		poms.add(Documentation.ROOT.resolve("pom.xml"));
		try (Stream<Path> modules = Files.list(Documentation.ROOT)) {
			modules.map((module) -> module.resolve("pom.xml")).filter(Files::exists).forEach(poms::add);
		}
		return poms;
	}

}
