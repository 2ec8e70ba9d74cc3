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

package dev.rdmarpc.rpc;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.flatbuffers.GatherBuilder;
import dev.rdmarpc.flatbuffers.GatherMessage;
import dev.rdmarpc.flatbuffers.TableField;
import dev.rdmarpc.flatbuffers.TableType;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/** The example in the documentation of the package {@code flatbuffers}, as it runs. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GatherExampleTests {

	@Test
	void allocateFillEmbedCall() {
		List<AppendEntries> received = new CopyOnWriteArrayList<>();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = RpcServer.builder()
					.transport(fixture.serverTransport)
					.options(RpcFixture.serverOptions(0))
					.service("log", FollowerService.class, received::add)
					.build()
					.start();
				RpcClient client = fixture.newClient(server)) {
			Follower proxy = client.proxy("log", Follower.class);
			replicate(fixture.clientMemory, "a payload".getBytes(StandardCharsets.UTF_8), List.of(proxy, proxy));
		}
		assertThat(received).hasSize(2).allSatisfy((each) -> {
			assertThat(each.term()).isEqualTo(7);
			assertThat(each.entries()).hasSize(1);
			assertThat(each.entries().get(0).index()).isEqualTo(1);
			assertThat(each.entries().get(0).data()).asString(StandardCharsets.UTF_8).isEqualTo("a payload");
		});
	}

	@Test
	void theDocumentationShowsWhatRuns() throws Exception {
		String documented = Files.readString(Path.of("src/main/java/dev/rdmarpc/flatbuffers/package-info.java"));
		String running = Files.readString(Path.of("src/test/java/dev/rdmarpc/rpc/GatherExampleTests.java"))
			.replaceAll("\\s+", " ");
		String example = documented.substring(documented.indexOf("<pre class=\"code\">"), documented.indexOf("</pre>"));
		List<String> lines = example.lines()
			.skip(1)
			.map((line) -> line.replaceFirst("^ \\*", "").replace("&lt;", "<").replace("&gt;", ">").strip())
			.toList();
		assertThat(lines).hasSizeGreaterThan(20);
		assertThat(running).contains(String.join(" ", lines.stream().filter((line) -> !line.isEmpty()).toList()));
	}

	// The rest is the example.

	static void replicate(RegisteredMemory memory, byte[] payload, List<Follower> followers) {
		RegisteredBuffer data = memory.allocate(payload.length);
		data.buffer().put(payload);
		try (GatherBuilder builder = new GatherBuilder(memory)) {
			GatherMessage entry = builder.begin(Entry.TYPE).put(Entry.INDEX, 1L).put(Entry.DATA, data).finish();
			data.release();
			for (Follower follower : followers) {
				builder.begin(Append.TYPE).put(Append.TERM, 7L).begin(Append.ENTRIES, 1).add(entry).end();
				GatherMessage message = builder.finish();
				follower.append(message);
				message.release();
			}
			entry.release();
		}
	}

	static final class Entry {

		static final TableType TYPE = TableType.named("Entry");

		static final TableField.OfLong INDEX = TYPE.addLong("index");

		static final TableField.OfBytes DATA = TYPE.addBytes("data");

	}

	static final class Append {

		static final TableType TYPE = TableType.named("AppendEntries");

		static final TableField.OfLong TERM = TYPE.addLong("term");

		static final TableField.OfTables ENTRIES = TYPE.addTables("entries", Entry.TYPE);

	}

	interface Follower {

		void append(GatherMessage entries);

	}

	/** What a follower makes of it: the same tables as records. */
	interface FollowerService {

		void append(AppendEntries entries);

	}

	record AppendEntries(long term, List<LogEntry> entries) {

	}

	record LogEntry(long index, byte[] data) {

	}

}
