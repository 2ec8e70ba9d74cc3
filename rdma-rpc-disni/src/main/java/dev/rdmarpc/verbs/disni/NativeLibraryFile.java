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
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;

/**
 * The file of the bundled library. It is written to a new directory that only its owner
 * can enter, compared with what was bundled, loaded, and deleted at once: the process
 * keeps what it has mapped, and nothing stays behind however it ends.
 */
final class NativeLibraryFile {

	private static final String NAME = "libdisni.so";

	private NativeLibraryFile() {
	}

	/** Operating system and processor, as directories of bundled libraries are called. */
	static String platform() {
		return platform(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
	}

	static String platform(String system, String processor) {
		return system.toLowerCase(Locale.ROOT) + "-" + (processor.equals("amd64") ? "x86_64" : processor);
	}

	/** The name of the resource that would hold the library for this platform. */
	static String bundledResource() {
		return "/META-INF/native/" + platform() + "/" + NAME;
	}

	/** Loads the library in a resource. */
	static void loadExtracted(String resource) throws IOException {
		byte[] content = read(resource);
		Path directory = Files.createTempDirectory("rdma-rpc-", permissions("rwx------"));
		Path file = directory.resolve(NAME);
		try {
			extract(content, file);
			System.load(file.toString());
		}
		finally {
			Files.deleteIfExists(file);
			Files.delete(directory);
		}
	}

	static void extract(byte[] content, Path file) throws IOException {
		Files.createFile(file, permissions("rwx------"));
		Files.write(file, content, StandardOpenOption.WRITE);
		if (!Arrays.equals(content, Files.readAllBytes(file))) {
			throw new IOException(file + " is not what was written to it");
		}
	}

	private static byte[] read(String resource) throws IOException {
		try (InputStream input = NativeLibraryFile.class.getResourceAsStream(resource)) {
			if (input == null) {
				throw new IOException("no resource " + resource);
			}
			return input.readAllBytes();
		}
	}

	private static FileAttribute<Set<PosixFilePermission>> permissions(String text) {
		return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(text));
	}

}
