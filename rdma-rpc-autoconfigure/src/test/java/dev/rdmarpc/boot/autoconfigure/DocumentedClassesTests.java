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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The classes and methods that {@code docs/reading-the-code.md} names exist. */
class DocumentedClassesTests {

	private static final Path PAGE = Documentation.ROOT.resolve("docs/reading-the-code.md");

	/** In backticks, perhaps with a method or a nested type; in pictures by its humps. */
	private static final Pattern NAME = Pattern
		.compile("`([A-Z]\\w*[a-z]\\w*(?:\\.\\w+)?)`|(?<![`\\w.])([A-Z][a-z]+[A-Z][a-z]\\w*)(?![`\\w])");

	private static final List<String> SECTIONS = List.of("## The request leaves", "## The request arrives",
			"## The reply returns", "## Large messages", "## Adapters");

	@Test
	void everyNameIsOneOfTheMainSources() throws Exception {
		Map<String, String> sources = sources();
		TreeSet<String> names = new TreeSet<>();
		NAME.matcher(Files.readString(PAGE)).results().map(DocumentedClassesTests::name).forEach(names::add);
		assertThat(names).hasSizeGreaterThan(100).allSatisfy((name) -> {
			int dot = name.indexOf('.');
			String source = sources.get((dot < 0) ? name : name.substring(0, dot));
			assertThat(source).as("the source of %s", name).isNotNull();
			if (dot >= 0) {
				assertThat(declaration(name.substring(dot + 1)).matcher(source).find()).as("%s is declared", name)
					.isTrue();
			}
		});
	}

	@Test
	void everyStationNamesTheMethodToRead() throws Exception {
		for (String section : SECTIONS) {
			assertThat(Documentation.rows(PAGE, section)).as(section)
				.hasSizeGreaterThan(3)
				.allSatisfy((row) -> assertThat(row.get(0)).matches("`[A-Z]\\w+\\.[a-z]\\w+`"));
		}
	}

	private static String name(MatchResult found) {
		return (found.group(1) != null) ? found.group(1) : found.group(2);
	}

	private static Pattern declaration(String member) {
		return Pattern
			.compile(Character.isUpperCase(member.charAt(0)) ? "(class|interface|enum|record) " + member + "\\b"
					: "(?m)^\t{1,2}(?!return |throw |new |else )[\\w@<][\\w<>\\[\\]@?,. ]* " + member + "\\(");
	}

	/** All main sources of a simple name. */
	private static Map<String, String> sources() throws IOException {
		Map<String, String> sources = new HashMap<>();
		for (String module : List.of("rdma-rpc-contract", "core", "rdma-rpc-disni")) {
			try (Stream<Path> files = Files.walk(Documentation.ROOT.resolve(module).resolve("src/main/java"))) {
				for (Path file : files.filter((path) -> path.toString().endsWith(".java")).toList()) {
					sources.merge(file.getFileName().toString().replace(".java", ""), Files.readString(file),
							String::concat);
				}
			}
		}
		return sources;
	}

}
