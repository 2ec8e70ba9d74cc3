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
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * Finds and loads the native library {@code disni}, so that DiSNI's classes find it too.
 *
 * <p>
 * The system property {@value #PROPERTY} says which: {@code bundled} is the copy in the
 * jar of this module, {@code system} the one on {@code java.library.path} (for instance
 * one that the user has built from DiSNI's sources), {@code auto} (the default) the
 * former and only if that is not there or does not load the latter; an absolute path
 * names the file of another build of ours. A library that the process has loaded before
 * us is kept in any case.
 *
 * <p>
 * Any thread may ask; the first one loads. Implementation note: DiSNI calls
 * {@code System.loadLibrary("disni")}, whose path is fixed once the virtual machine runs.
 * It finds ours because the library, once loaded from its file, makes itself known to the
 * process as a statically linked one ({@link NativeVerbs#exposeAsStaticLibrary}).
 */
final class NativeLibrary {

	/** The system property that says which library to load. */
	static final String PROPERTY = "rdma.rpc.disni.library";

	/** What has to be installed for the library to load. */
	static final String NEEDS = "rdma-core (Debian: libibverbs1 librdmacm1 ibverbs-providers)";

	/** The first of DiSNI's classes that needs the library. */
	private static final String DISPATCHER = "com.ibm.disni.verbs.impl.NativeDispatcher";

	private static @Nullable State state;

	private NativeLibrary() {
	}

	/**
	 * Loads the library unless that was tried before. Throws nothing: see
	 * {@link #problem()}.
	 */
	static void load() {
		state();
	}

	/** Why the library cannot be used, after an attempt to load it; null if it can. */
	static @Nullable String problem() {
		return state().problem;
	}

	/** Whether the loaded library is ours, so that {@link NativeVerbs} may be used. */
	static boolean extended() {
		return state().extended;
	}

	/** Which library was loaded, for people. */
	static String origin() {
		return state().origin;
	}

	/**
	 * What is missing for an attempt to load the library; null if nothing is. Loads
	 * nothing.
	 */
	static @Nullable String missing() {
		if (!System.getProperty("os.name", "").equals("Linux")) {
			return "RDMA adapters need Linux (this is " + System.getProperty("os.name") + ")";
		}
		if (!isPresent(DISPATCHER)) {
			return "DiSNI is not on the class path (com.ibm.disni:disni:2.0)";
		}
		String choice = choice();
		if (choice.equals("bundled") && NativeLibrary.class.getResource(NativeLibraryFile.bundledResource()) == null) {
			return notBundled();
		}
		return null;
	}

	private static synchronized State state() {
		State known = state;
		if (known == null) {
			known = attempt();
			state = known;
		}
		return known;
	}

	private static State attempt() {
		String missing = missing();
		if (missing != null) {
			return State.failed(missing);
		}
		String choice = choice();
		if (choice.equals("system") || isLoadedAlready()) {
			return loadSystem();
		}
		if (choice.startsWith("/")) {
			return loadOurs("the library " + choice, () -> System.load(choice));
		}
		if (!choice.equals("auto") && !choice.equals("bundled")) {
			return State.failed(PROPERTY + "=" + choice + " (expected: auto, bundled, system or an absolute path)");
		}
		State bundled = loadBundled();
		if (bundled.problem == null || choice.equals("bundled")) {
			return bundled;
		}
		State system = loadSystem();
		return (system.problem != null) ? State.failed(bundled.problem + "; " + system.problem) : system;
	}

	private static State loadBundled() {
		String resource = NativeLibraryFile.bundledResource();
		if (NativeLibrary.class.getResource(resource) == null) {
			return State.failed(notBundled());
		}
		return loadOurs("the bundled library", () -> NativeLibraryFile.loadExtracted(resource));
	}

	private static State loadOurs(String origin, Loader loader) {
		try {
			loader.load();
			int version = versionOfExtensions();
			if (version == 0) {
				return State
					.failed(origin + " is not ours: put it on java.library.path and set " + PROPERTY + "=system");
			}
			if (version != NativeVerbs.EXTENSION_VERSION) {
				return State.failed(origin + " has version " + version + " of our extensions (expected: "
						+ NativeVerbs.EXTENSION_VERSION + ")");
			}
			NativeVerbs.errorType(NativeVerbsException.class);
			NativeVerbs.exposeAsStaticLibrary();
			initializeDisni();
			return new State(null, true, origin);
		}
		catch (IOException | LinkageError | SecurityException ex) {
			return State.failed(origin + " does not load: " + explain(ex));
		}
	}

	private static State loadSystem() {
		try {
			initializeDisni();
		}
		catch (LinkageError ex) {
			return State.failed("no library disni that loads on java.library.path: " + explain(ex));
		}
		if (versionOfExtensions() != NativeVerbs.EXTENSION_VERSION) {
			return new State(null, false, "the library on java.library.path (without extensions)");
		}
		NativeVerbs.errorType(NativeVerbsException.class);
		return new State(null, true, "the library on java.library.path");
	}

	/** The version of our extensions in the library that was loaded, 0 without them. */
	private static int versionOfExtensions() {
		try {
			return NativeVerbs.extensionVersion();
		}
		catch (UnsatisfiedLinkError ex) {
			return 0;
		}
	}

	private static void initializeDisni() {
		try {
			Class.forName(DISPATCHER, true, NativeLibrary.class.getClassLoader());
		}
		catch (ClassNotFoundException ex) {
			throw new NoClassDefFoundError(DISPATCHER);
		}
	}

	private static boolean isPresent(String type) {
		try {
			Class.forName(type, false, NativeLibrary.class.getClassLoader());
			return true;
		}
		catch (ClassNotFoundException | LinkageError ex) {
			return false;
		}
	}

	/** Two libraries of this name in one process would take each other's handles. */
	private static boolean isLoadedAlready() {
		try (Stream<String> mapped = Files.lines(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1)) {
			return mapped.anyMatch((line) -> line.contains("/libdisni.so"));
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static String notBundled() {
		return "this build of rdma-rpc-disni has no library for " + NativeLibraryFile.platform();
	}

	private static String choice() {
		return System.getProperty(PROPERTY, "auto");
	}

	private static String explain(Throwable problem) {
		List<String> parts = new ArrayList<>();
		String message = String.valueOf(problem.getMessage());
		parts.add(message);
		String lower = message.toLowerCase(Locale.ROOT);
		if (lower.contains("libibverbs") || lower.contains("librdmacm")) {
			parts.add("install " + NEEDS);
		}
		if (lower.contains("failed to map segment") || lower.contains("operation not permitted")) {
			parts.add("java.io.tmpdir must not be mounted noexec");
		}
		return String.join("; ", parts);
	}

	private interface Loader {

		void load() throws IOException;

	}

	private record State(@Nullable String problem, boolean extended, String origin) {

		static State failed(String problem) {
			return new State(problem, false, "none");
		}

	}

}
