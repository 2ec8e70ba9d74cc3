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
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The threads of processes at one time, as Linux tells of them: those of the virtual
 * machine too. On other systems there are none.
 *
 * @param threads by identifier
 */
record ProcessThreads(Map<String, State> threads) {

	private static final int MOST_NAMED = 3;

	private static final long TICK_NANOS = 10_000_000;

	/** Looks at the threads of processes. */
	static ProcessThreads of(long... processes) {
		Map<String, State> threads = new HashMap<>();
		for (long process : processes) {
			try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/" + process + "/task"))) {
				for (Path task : tasks) {
					threads.put(task.getFileName().toString(), State.read(task.resolve("stat")));
				}
			}
			catch (IOException | UncheckedIOException ex) {
				// the process or a thread has ended, or this is not Linux
			}
		}
		return new ProcessThreads(threads);
	}

	/** Whether one of them has a processor or waits for one. */
	boolean isRunning() {
		return this.threads.values().stream().anyMatch(State::running);
	}

	/** Names those that used most of the processors since then, and how much. */
	String busiestSince(ProcessThreads earlier, long nanos) {
		Map<String, Long> ticks = new HashMap<>();
		this.threads.forEach((id, state) -> {
			State before = earlier.threads().get(id);
			ticks.merge(state.name(), state.ticks() - ((before != null) ? before.ticks() : 0), Long::sum);
		});
		List<String> busiest = ticks.entrySet()
			.stream()
			.filter((thread) -> thread.getValue() > 0)
			.sorted(Map.Entry.<String, Long>comparingByValue().reversed())
			.limit(MOST_NAMED)
			.map((thread) -> String.format(Locale.ROOT, "%s %.0f %%", thread.getKey(),
					100.0 * thread.getValue() * TICK_NANOS / nanos))
			.collect(Collectors.toList());
		return busiest.isEmpty() ? "" : " (" + String.join(", ", busiest) + ")";
	}

	/**
	 * One of them.
	 *
	 * @param name its first 15 characters
	 * @param running whether it has a processor or waits for one
	 * @param ticks processor time
	 */
	record State(String name, boolean running, long ticks) {

		/** Its fields are described in {@code proc(5)}; a name may contain anything. */
		private static State read(Path file) throws IOException {
			String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
			int end = text.lastIndexOf(')');
			String[] fields = text.substring(end + 2).split(" ", -1);
			return new State(text.substring(text.indexOf('(') + 1, end), fields[0].equals("R"),
					Long.parseLong(fields[11]) + Long.parseLong(fields[12]));
		}

	}

}
