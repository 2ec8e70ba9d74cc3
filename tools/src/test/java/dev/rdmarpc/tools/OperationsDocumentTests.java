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

package dev.rdmarpc.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The guide for operators quotes reasons that exist. */
class OperationsDocumentTests {

	private static final Path ROOT = Path.of("..");

	private static final Path DISNI = ROOT.resolve("rdma-rpc-disni/src/main/java/dev/rdmarpc/verbs/disni");

	/** The first column: reasons in code. */
	private static final Pattern ROW = Pattern.compile("^\\| `([^|`]+)`", Pattern.MULTILINE);

	@Test
	void availabilityReasonsAreThoseOfTheProvider() throws IOException {
		String document = Files.readString(ROOT.resolve("docs/operations.md"));
		int begin = document.indexOf("\n## What an availability reason means");
		String section = document.substring(begin, document.indexOf("\n## ", begin + 1));
		String source = Files.readString(DISNI.resolve("DisniAvailability.java"))
				+ Files.readString(DISNI.resolve("NativeLibrary.java"));
		List<String> reasons = new ArrayList<>();
		Matcher rows = ROW.matcher(section);
		while (rows.find()) {
			reasons.addAll(List.of(rows.group(1).split("\\.\\.\\.", -1)));
		}
		assertThat(reasons).hasSizeGreaterThan(12).allSatisfy((reason) -> assertThat(source).contains(reason.strip()));
	}

}
