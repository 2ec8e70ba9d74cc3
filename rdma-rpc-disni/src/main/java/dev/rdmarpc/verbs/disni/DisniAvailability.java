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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.ProviderAvailability;

/**
 * Whether RDMA adapters can be used here, and if not, everything that is missing. Looks
 * at files first; the native library is loaded only when nothing else is in the way.
 */
final class DisniAvailability {

	/** Locked memory below which a pool cannot do its work, in bytes. */
	static final long MIN_LOCKED_BYTES = 64L << 20;

	/** What lets DiSNI see the addresses of buffers. */
	static final String EXPORT = "--add-exports java.base/sun.nio.ch=ALL-UNNAMED";

	/** Bit of the capability to lock any amount of memory, see capabilities(7). */
	private static final int CAP_IPC_LOCK = 14;

	private final Path root;

	private final Library library;

	private final boolean exported;

	/**
	 * Creates the question.
	 * @param root where the file system begins
	 * @param library the native library
	 * @param exported whether DiSNI may use {@code sun.nio.ch}
	 */
	DisniAvailability(Path root, Library library, boolean exported) {
		this.root = root;
		this.library = library;
		this.exported = exported;
	}

	/** Asks about this machine and process. */
	static ProviderAvailability check() {
		Module own = DisniAvailability.class.getModule();
		return new DisniAvailability(Path.of("/"), new LoadedLibrary(),
				Object.class.getModule().isExported("sun.nio.ch", own))
			.answer();
	}

	/** The answer; a reason names all that is missing, with what to do about it. */
	ProviderAvailability answer() {
		List<String> devices = list("sys/class/infiniband", "");
		List<String> problems = new ArrayList<>();
		addIfPresent(problems, this.library.missing());
		if (!this.exported) {
			problems.add("start Java with " + EXPORT
					+ " (in an executable jar the manifest can say Add-Exports: java.base/sun.nio.ch)");
		}
		if (devices.isEmpty()) {
			problems.add(noDevice());
		}
		else {
			addIfPresent(problems, deviceFile("rdma_cm", "rdma_ucm"));
			addIfPresent(problems, verbsFiles());
			addIfPresent(problems, inactive(devices));
		}
		String locked = lockedMemory(problems);
		if (problems.isEmpty()) {
			addIfPresent(problems, this.library.problem());
		}
		if (!problems.isEmpty()) {
			return ProviderAvailability.unavailable(String.join("; ", problems));
		}
		return ProviderAvailability
			.available(String.join(", ", devices) + " through " + this.library.origin() + ", locked memory " + locked);
	}

	private static void addIfPresent(List<String> problems, @Nullable String problem) {
		if (problem != null) {
			problems.add(problem);
		}
	}

	private String noDevice() {
		if (!Files.isDirectory(this.root.resolve("sys/class/infiniband"))) {
			return "the kernel has no RDMA (/sys/class/infiniband is missing): load the module of the adapter,"
					+ " or rdma_rxe or siw for an ordinary network card";
		}
		return "no RDMA device (/sys/class/infiniband is empty): load the module of the adapter,"
				+ " or add a device with \"rdma link add\"";
	}

	/** What is wrong with a device file; null if nothing is. */
	private @Nullable String deviceFile(String name, String module) {
		Path file = this.root.resolve("dev/infiniband").resolve(name);
		String shown = "/dev/infiniband/" + name;
		if (!Files.exists(file)) {
			return shown + " is missing: load the module " + module + " (a container must be given the file)";
		}
		if (!Files.isReadable(file) || !Files.isWritable(file)) {
			return "no permission to read and write " + shown + permissions(file);
		}
		return null;
	}

	private @Nullable String verbsFiles() {
		List<String> files = list("dev/infiniband", "uverbs");
		if (files.isEmpty()) {
			return deviceFile("uverbs0", "ib_uverbs");
		}
		List<String> problems = new ArrayList<>();
		for (String file : files) {
			String problem = deviceFile(file, "ib_uverbs");
			if (problem == null) {
				return null;
			}
			problems.add(problem);
		}
		return String.join("; ", problems);
	}

	private static String permissions(Path file) {
		try {
			PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
			return " (" + PosixFilePermissions.toString(attributes.permissions()) + ", owner "
					+ attributes.owner().getName() + ", group " + attributes.group().getName() + ")";
		}
		catch (IOException | UnsupportedOperationException ex) {
			return "";
		}
	}

	/** Says so if no port of any device is active; null if one is. */
	private @Nullable String inactive(List<String> devices) {
		List<String> states = new ArrayList<>();
		for (String device : devices) {
			for (String port : list("sys/class/infiniband/" + device + "/ports", "")) {
				String state = line("sys/class/infiniband/" + device + "/ports/" + port + "/state", "");
				if (state == null || state.contains("ACTIVE")) {
					return null;
				}
				states.add(device + " port " + port + " is " + state);
			}
		}
		return "no active port (" + String.join(", ", states) + "): bring the network interface up";
	}

	/** The limit in words; adds a problem if it is too low. */
	private String lockedMemory(List<String> problems) {
		String limit = line("proc/self/limits", "Max locked memory");
		String[] fields = (limit != null) ? limit.trim().split("\\s+") : new String[] { "unlimited" };
		if (fields[0].equals("unlimited") || mayLockAnything()) {
			return "unlimited";
		}
		long bytes = Long.parseLong(fields[0]);
		if (bytes < MIN_LOCKED_BYTES) {
			problems.add("the process may lock " + (bytes >> 10) + " KiB of memory (expected: at least "
					+ (MIN_LOCKED_BYTES >> 20) + " MiB, better unlimited): raise the limit memlock"
					+ " (ulimit -l, LimitMEMLOCK= of systemd, --ulimit memlock=-1 of a container)");
		}
		return (bytes >> 20) + " MiB";
	}

	private boolean mayLockAnything() {
		String capabilities = line("proc/self/status", "CapEff:");
		return capabilities != null && (Long.parseUnsignedLong(capabilities.trim(), 16) >> CAP_IPC_LOCK & 1) != 0;
	}

	/** What follows the prefix in the first line that begins with it, or null. */
	private @Nullable String line(String file, String prefix) {
		try (Stream<String> lines = Files.lines(this.root.resolve(file), StandardCharsets.ISO_8859_1)) {
			return lines.filter((line) -> line.startsWith(prefix))
				.map((line) -> line.substring(prefix.length()).trim())
				.findFirst()
				.orElse(null);
		}
		catch (IOException ex) {
			return null;
		}
	}

	/** Names in a directory that begin so, in order; none if it is not there. */
	private List<String> list(String directory, String prefix) {
		Path path = this.root.resolve(directory);
		if (!Files.isDirectory(path)) {
			return List.of();
		}
		try (Stream<Path> entries = Files.list(path)) {
			return entries.map((entry) -> entry.getFileName().toString())
				.filter((name) -> name.startsWith(prefix))
				.sorted()
				.toList();
		}
		catch (IOException ex) {
			return List.of();
		}
	}

	/** The native library, as far as the answer depends on it. */
	interface Library {

		/** What is missing for an attempt to load it; null if nothing is. */
		@Nullable String missing();

		/** Why it cannot be used, after that attempt; null if it can. */
		@Nullable String problem();

		/** Which library it is. */
		String origin();

	}

	private static final class LoadedLibrary implements Library {

		@Override
		public @Nullable String missing() {
			return NativeLibrary.missing();
		}

		@Override
		public @Nullable String problem() {
			return NativeLibrary.problem();
		}

		@Override
		public String origin() {
			return NativeLibrary.origin();
		}

	}

}
