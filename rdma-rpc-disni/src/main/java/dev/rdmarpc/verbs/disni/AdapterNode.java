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
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

import org.jspecify.annotations.Nullable;

/**
 * The place of an adapter among those that programs can use. The kernel takes it away
 * when the removal of the adapter begins, also where that then waits for programs that
 * have it open, and gives another one to an adapter of the same name. Thread-safe.
 */
final class AdapterNode {

	private final @Nullable Path directory;

	private final @Nullable Object key;

	private AdapterNode(@Nullable Path directory, @Nullable Object key) {
		this.directory = directory;
		this.key = key;
	}

	/**
	 * Looks for an adapter. One that is not found is not missed either.
	 * @param root of the file system
	 */
	static AdapterNode of(Path root, String adapter) {
		try (DirectoryStream<Path> nodes = Files.newDirectoryStream(root.resolve("sys/class/infiniband_verbs"),
				"uverbs*")) {
			for (Path node : nodes) {
				if (Files.readString(node.resolve("ibdev")).strip().equals(adapter)) {
					return new AdapterNode(node, keyOf(node));
				}
			}
		}
		catch (IOException ex) {
			// what cannot be looked at cannot be watched
		}
		return new AdapterNode(null, null);
	}

	private static @Nullable Object keyOf(Path node) throws IOException {
		return Files.readAttributes(node, BasicFileAttributes.class).fileKey();
	}

	/** Whether it was there, and is not any more. Takes as long as looking at a file. */
	boolean isGone() {
		if (this.directory == null || this.key == null) {
			return false;
		}
		try {
			return !this.key.equals(keyOf(this.directory));
		}
		catch (IOException ex) {
			return true;
		}
	}

}
