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
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The links of the documents lead to files and headings that exist. */
class DocumentedLinksTests {

	private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:)([^)#\\s]*)(?:#([^)\\s]+))?\\)");

	@Test
	void linksLeadSomewhere() throws Exception {
		List<String> broken = new ArrayList<>();
		int links = 0;
		for (Path file : Documentation.files()) {
			Matcher matcher = LINK.matcher(Files.readString(file));
			while (matcher.find()) {
				links++;
				Path target = matcher.group(1).isEmpty() ? file
						: file.resolveSibling(matcher.group(1)).toAbsolutePath().normalize();
				String heading = matcher.group(2);
				if (!Files.exists(target) || (heading != null && !anchors(target).contains(heading))) {
					broken.add(Documentation.ROOT.relativize(file) + " -> " + matcher.group());
				}
			}
		}
		assertThat(broken).isEmpty();
		assertThat(links).isGreaterThan(100);
	}

	/** As GitHub makes them of headings. */
	private static Set<String> anchors(Path file) throws IOException {
		return Files.readAllLines(file)
			.stream()
			.filter((line) -> line.matches("#+ .*"))
			.map((line) -> line.replaceFirst("#+ ", "").strip().toLowerCase(Locale.ROOT))
			.map((heading) -> heading.replaceAll("[^\\w\\- ]", "").replace(' ', '-'))
			.collect(Collectors.toSet());
	}

}
