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
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The schema compiler of FlatBuffers, as an independent reader and writer of messages.
 */
final class Flatc {

	private static final long TIMEOUT_SECONDS = 30;

	private final Path directory;

	private Flatc(Path directory) {
		this.directory = directory;
	}

	static Flatc in(Path directory) {
		return new Flatc(directory);
	}

	static boolean isInstalled() {
		try {
			Process process = new ProcessBuilder("flatc", "--version").redirectErrorStream(true).start();
			process.getInputStream().readAllBytes();
			return process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
		}
		catch (IOException ex) {
			return false;
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** The message as JSON, every field that is there spelled out. */
	String toJson(String schema, ByteBuffer message) throws Exception {
		write(schema, message);
		run("--json", "--strict-json", "--raw-binary", "schema.fbs", "--", "message.bin");
		return Files.readString(this.directory.resolve("message.json"));
	}

	/** Writes {@code schema.fbs} and {@code message.bin}. */
	void write(String schema, ByteBuffer message) throws IOException {
		byte[] bytes = new byte[message.remaining()];
		message.get(message.position(), bytes);
		Files.writeString(this.directory.resolve("schema.fbs"), schema);
		Files.write(this.directory.resolve("message.bin"), bytes);
	}

	/** The message that flatc makes of JSON. */
	ByteBuffer toBinary(String schema, String json) throws Exception {
		Files.writeString(this.directory.resolve("schema.fbs"), schema);
		Files.writeString(this.directory.resolve("message.json"), json);
		run("--binary", "schema.fbs", "message.json");
		byte[] bytes = Files.readAllBytes(this.directory.resolve("message.bin"));
		return ByteBuffer.allocateDirect(bytes.length).order(java.nio.ByteOrder.LITTLE_ENDIAN).put(bytes).flip();
	}

	/** Generates C++, to see that the schema compiles. */
	void compile(String schema) throws Exception {
		Files.writeString(this.directory.resolve("schema.fbs"), schema);
		run("--cpp", "schema.fbs");
	}

	private void run(String... arguments) throws IOException {
		List<String> command = new ArrayList<>(List.of("flatc"));
		command.addAll(List.of(arguments));
		run(this.directory, command);
	}

	/** Runs a command, which must succeed, and returns what it prints. */
	static String run(Path directory, List<String> command) throws IOException {
		Process process = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
		String output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
		try {
			assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).as("%s ends", command).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		assertThat(process.exitValue()).as("%s: %s", command, output).isZero();
		return output;
	}

}
