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
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** The documents of the project, as its tests read them. */
final class Documentation {

	/** The root of the project, seen from the directory of a module. */
	static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

	private Documentation() {
	}

	/** README and guides. */
	static List<Path> files() throws IOException {
		List<Path> files = new ArrayList<>();
		files.add(ROOT.resolve("README.md"));
		try (Stream<Path> guides = Files.list(ROOT.resolve("docs"))) {
			guides.filter((file) -> file.toString().endsWith(".md")).sorted().forEach(files::add);
		}
		return files;
	}

	/** The fenced blocks of a language in a document. */
	static List<String> blocks(Path file, String language) throws IOException {
		List<String> blocks = new ArrayList<>();
		StringBuilder block = null;
		for (String line : Files.readAllLines(file)) {
			if (block == null) {
				block = line.equals("```" + language) ? new StringBuilder() : null;
			}
			else if (line.equals("```")) {
				blocks.add(block.toString());
				block = null;
			}
			else {
				block.append(line).append('\n');
			}
		}
		return blocks;
	}

	/**
	 * The rows of the tables below a heading, up to the next heading; cells are stripped.
	 */
	static List<List<String>> rows(Path file, String heading) throws IOException {
		List<List<String>> rows = new ArrayList<>();
		boolean inside = false;
		for (String line : Files.readAllLines(file)) {
			if (line.startsWith("#")) {
				inside = line.equals(heading);
			}
			else if (inside && line.startsWith("| `")) {
				String cells = line.substring(1, line.lastIndexOf('|'));
				rows.add(Arrays.stream(cells.split("\\|", -1)).map(String::strip).toList());
			}
		}
		return rows;
	}

}
