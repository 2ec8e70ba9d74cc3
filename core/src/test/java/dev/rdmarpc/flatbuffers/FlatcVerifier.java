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

package dev.rdmarpc.flatbuffers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * The verifier in the library that {@code flatc} is linked with, as a program of a few
 * lines that is compiled when it is needed.
 */
final class FlatcVerifier {

	private final Path directory;

	private FlatcVerifier(Path directory) {
		this.directory = directory;
	}

	static boolean isAvailable() throws IOException {
		Path directory = Files.createTempDirectory("flatc-verifier");
		try {
			compile(directory);
			return Flatc.isInstalled();
		}
		catch (AssertionError | IOException ex) {
			return false;
		}
		finally {
			for (String file : List.of("verify.cpp", "verify")) {
				Files.deleteIfExists(directory.resolve(file));
			}
			Files.delete(directory);
		}
	}

	static FlatcVerifier in(Path directory) throws IOException {
		compile(directory);
		return new FlatcVerifier(directory);
	}

	private static void compile(Path directory) throws IOException {
		try (InputStream in = FlatcVerifier.class.getResourceAsStream("/flatbuffers/verify.cpp")) {
			Files.copy(Objects.requireNonNull(in), directory.resolve("verify.cpp"));
		}
		Flatc.run(directory, List.of("g++", "-o", "verify", "verify.cpp", "-l:libflatbuffers.so.2"));
	}

	/** Whether the message is valid for the schema's root type. */
	boolean accepts(String schema, ByteBuffer message) throws IOException {
		Flatc.in(this.directory).write(schema, message);
		Flatc.run(this.directory, List.of("flatc", "--binary", "--schema", "schema.fbs"));
		String answer = Flatc.run(this.directory, List.of("./verify", "schema.bfbs", "message.bin"));
		return switch (answer.strip()) {
			case "valid" -> true;
			case "invalid" -> false;
			default -> throw new AssertionError(answer);
		};
	}

}
