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

package dev.rdmarpc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Takes the whole heap for as long as a step lasts, in a process of its own. What the
 * step needs must have been used before: a class whose initializer finds no memory is
 * lost for the process.
 */
public final class NoHeap {

	private static final int LARGEST = 1 << 16;

	private static final int COLLECTIONS = 3;

	private static volatile @Nullable Link hoard;

	private NoHeap() {
	}

	/**
	 * Takes what there is; the calling thread can then allocate nothing. What the garbage
	 * collector leaves to finalizers and cleaners is free only after they have run.
	 */
	public static void take() {
		Link last = hoard;
		for (int i = 0; i < COLLECTIONS; i++) {
			last = fill(last);
			System.gc();
		}
		hoard = fill(last);
	}

	private static @Nullable Link fill(@Nullable Link before) {
		Link last = before;
		for (int length = LARGEST; length > 0;) {
			try {
				last = new Link(last, new Object[length]);
			}
			catch (OutOfMemoryError ex) {
				length /= 4;
			}
		}
		try {
			while (true) {
				last = new Link(last, null);
			}
		}
		catch (OutOfMemoryError ex) {
			return last;
		}
	}

	/** Gives it back. */
	public static void giveBack() {
		hoard = null;
	}

	/** Runs a step without memory; whether it has failed for that. */
	public static boolean fails(Runnable step) {
		boolean failed = false;
		take();
		try {
			step.run();
		}
		catch (OutOfMemoryError ex) {
			failed = true;
		}
		giveBack();
		return failed;
	}

	/** Runs a class in a process with a small heap, and returns the lines it writes. */
	public static List<String> linesOf(Class<?> main, String... arguments) throws IOException, InterruptedException {
		Process process = start(main, arguments);
		try {
			List<String> lines = process.inputReader(StandardCharsets.UTF_8).lines().toList();
			assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("ended in time").isTrue();
			return lines;
		}
		finally {
			process.destroyForcibly();
		}
	}

	/** Starts a class in a process with a small heap. */
	public static Process start(Class<?> main, String... arguments) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx24m",
						"-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"), main.getName()));
		command.addAll(List.of(arguments));
		return new ProcessBuilder(command).redirectErrorStream(true).start();
	}

	/** Refers to a piece of what was taken. */
	private record Link(@Nullable Link before, Object @Nullable [] piece) {

	}

}
