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
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Each feature that {@code docs/features.md} claims is linked to a test that exists. */
class DocumentedFeaturesTests {

	private static final Path PAGE = Documentation.ROOT.resolve("docs/features.md");

	/** What this project has is a link to a test of it, and what it lacks says so. */
	private static final Pattern OWN = Pattern.compile("(?:yes|partly): \\[(\\w+)]\\(([\\w./-]+)\\)|no");

	private static final Pattern OTHERS = Pattern.compile("(yes|partly|no)(, .+| \\(.+\\))?");

	@Test
	void eachClaimIsLinkedToATestOfThatName() throws Exception {
		List<List<String>> rows = rows();
		assertThat(rows).hasSizeGreaterThan(30).allSatisfy((row) -> {
			MatchResult own = match(OWN, row.get(1));
			if (own.group(1) != null) {
				Path test = PAGE.resolveSibling(own.group(2)).normalize();
				assertThat(test).as(row.get(0)).isRegularFile();
				assertThat(test.getFileName()).as(row.get(0)).hasToString(own.group(1) + ".java");
				assertThat(Files.readString(test)).as(row.get(0)).contains("class " + own.group(1));
			}
		});
	}

	@Test
	void othersAreJudgedInTheSameWords() throws Exception {
		assertThat(rows()).allSatisfy((row) -> assertThat(row.subList(2, 6))
			.allSatisfy((cell) -> assertThat(cell).as(row.get(0)).matches(OTHERS)));
	}

	private static List<List<String>> rows() throws IOException {
		return Files.readAllLines(PAGE)
			.stream()
			.filter((line) -> line.startsWith("| ") && !line.startsWith("| ---") && !line.startsWith("| feature"))
			.map((line) -> List.of(line.substring(2, line.length() - 2).split(" +\\| +")))
			.toList();
	}

	private static MatchResult match(Pattern pattern, String text) {
		var matcher = pattern.matcher(text);
		assertThat(matcher.matches()).as("'%s' matches %s", text, pattern).isTrue();
		return matcher.toMatchResult();
	}

}
