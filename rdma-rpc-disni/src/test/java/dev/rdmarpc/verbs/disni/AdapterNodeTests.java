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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

class AdapterNodeTests {

	@TempDir
	Path root;

	private Path add(String node, String adapter) throws IOException {
		Path directory = Files.createDirectories(this.root.resolve("sys/class/infiniband_verbs").resolve(node));
		Files.writeString(directory.resolve("ibdev"), adapter + "\n");
		return directory;
	}

	private static void remove(Path node) throws IOException {
		Files.delete(node.resolve("ibdev"));
		Files.delete(node);
	}

	@Test
	void anAdapterIsGoneWhenItsNodeIs() throws IOException {
		Path first = add("uverbs0", "rxe0");
		Path second = add("uverbs1", "rxe1");
		AdapterNode node = AdapterNode.of(this.root, "rxe1");
		assertThat(node.isGone()).isFalse();
		remove(first);
		assertThat(node.isGone()).isFalse();
		remove(second);
		assertThat(node.isGone()).isTrue();
	}

	@Test
	void anotherAdapterInItsPlaceIsNotTheSame() throws IOException {
		Path place = add("uverbs0", "rxe0");
		AdapterNode node = AdapterNode.of(this.root, "rxe0");
		Path aside = place.resolveSibling("aside");
		Files.move(place, aside);
		add("uverbs0", "rxe0");
		assertThat(node.isGone()).isTrue();
		assertThat(AdapterNode.of(this.root, "rxe0").isGone()).isFalse();
	}

	@Test
	void whatCannotBeLookedAtIsNotMissed() throws IOException {
		assertThat(AdapterNode.of(this.root, "rxe0").isGone()).isFalse();
		add("uverbs0", "rxe0");
		assertThat(AdapterNode.of(this.root, "mlx5_0").isGone()).isFalse();
	}

}
