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

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.openjdk.jcstress.Main;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs the jcstress tests of a package for a short time. To run them for longer: the same
 * main class with {@code -m default} or {@code -m tough} on the test class path.
 */
public final class StressRun {

	/**
	 * For what starts the tests, and first some twenty virtual machines that do nothing,
	 * to learn which options there are.
	 */
	private static final String ONE_COMPILER = "-XX:TieredStopAtLevel=1";

	/** For the tests, which get the options of what starts them as well, in front. */
	private static final String ALL_COMPILERS = "-XX:TieredStopAtLevel=4";

	private StressRun() {
	}

	/**
	 * Runs the tests and asserts that only acceptable outcomes are seen.
	 * @param expected how many tests there are: one that is not found must not pass for
	 * one that did
	 * @param more options of jcstress
	 */
	public static void of(Package tests, int expected, Path directory, String... more) throws Exception {
		Path log = directory.resolve("log.txt");
		Process process = new ProcessBuilder(command(tests, directory, more)).directory(directory.toFile())
			.redirectErrorStream(true)
			.redirectOutput(log.toFile())
			.start();
		try {
			assertThat(process.waitFor(9, TimeUnit.MINUTES)).as(() -> "ended in time: " + read(log)).isTrue();
			assertThat(process.exitValue()).as(() -> read(log)).isZero();
			assertThat(read(log)).contains(expected + " matching test results").doesNotContain("FAILED");
		}
		finally {
			process.descendants().forEach(ProcessHandle::destroyForcibly);
			process.destroyForcibly();
		}
	}

	private static List<String> command(Package tests, Path directory, String... more) {
		String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
		List<String> command = new ArrayList<>(List.of(
				Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m", "-XX:+UseSerialGC",
				ONE_COMPILER, "-cp", classPath, Main.class.getName(), "-t", tests.getName(), "-f", "1", "-iters", "1",
				"-time", "300", "-sc", "false", "-af", "NONE", "-hs", "256", "-pth", "false", "-jvmArgs",
				"-XX:+UseSerialGC -Xmx256m " + ALL_COMPILERS, "-r", directory + File.separator));
		command.addAll(List.of(more));
		return command;
	}

	private static String read(Path log) {
		try {
			return Files.readString(log);
		}
		catch (IOException ex) {
			return ex.toString();
		}
	}

}
