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

package dev.rdmarpc.benchmarks.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * How the processes of peers are started: on the Java of this one, and on its class path
 * unless the peer is of another build.
 *
 * @param virtualMachineArguments put before the main class; {@code %n} becomes the
 * process's name
 * @param before another checkout whose benchmarks have been built, for peers named
 * {@code before:}<em>peer</em>, or null if there is none
 */
record Launch(List<String> virtualMachineArguments, @Nullable Path before) {

	private static final List<String> ARGUMENTS = List.of("-Xms256m", "-Xmx1g", "-XX:MaxDirectMemorySize=1536m",
			"-XX:-UsePerfData");

	/** What the name of a peer of the other build begins with. */
	static final String BEFORE = "before:";

	Launch {
		if (before != null && !Files.isRegularFile(classPathFile(before))) {
			throw new IllegalArgumentException("--before " + before
					+ " (expected: a checkout where benchmarks/compare has been built, but there is no "
					+ classPathFile(before) + ")");
		}
	}

	/**
	 * How processes are started unless asked otherwise.
	 * @param additional virtual machine arguments
	 * @param before as in the record
	 */
	static Launch standard(List<String> additional, @Nullable Path before) {
		return new Launch(Stream.concat(ARGUMENTS.stream(), additional.stream()).toList(), before);
	}

	/** What a peer is called within its build. */
	static String plainName(String peer) {
		return peer.startsWith(BEFORE) ? peer.substring(BEFORE.length()) : peer;
	}

	/**
	 * The command that starts a process.
	 * @param name the name of the process
	 * @param role {@code server} or {@code client}
	 * @param peer the name of the peer
	 * @throws IOException if the other build's class path cannot be read
	 */
	List<String> command(String name, String role, String peer) throws IOException {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		for (String argument : this.virtualMachineArguments) {
			command.add(argument.replace("%n", name));
		}
		if (!peer.startsWith(BEFORE)) {
			command.addAll(Peers.named(peer).virtualMachineArguments());
		}
		command.addAll(List.of("-cp", classPath(peer), PeerProcess.class.getName(), role, plainName(peer)));
		return command;
	}

	private String classPath(String peer) throws IOException {
		if (!peer.startsWith(BEFORE)) {
			return System.getProperty("java.class.path");
		}
		if (this.before == null) {
			throw new PeerFailure(peer + ": which build is meant? (expected: --before)");
		}
		return this.before.resolve("benchmarks/target/classes") + ":"
				+ Files.readString(classPathFile(this.before)).strip();
	}

	private static Path classPathFile(Path checkout) {
		return checkout.resolve("benchmarks/target/class-path.txt");
	}

}
