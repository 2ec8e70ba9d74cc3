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

package dev.rdmarpc.benchmarks.workloads.store;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Vector;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.Status;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.sample.store.BlobStore;
import dev.rdmarpc.sample.store.InMemoryFeatureStore;

import static org.assertj.core.api.Assertions.assertThat;

/** The binding on the sample's store itself. */
@SuppressWarnings("JdkObsolete") // the types of YCSB
class StoreDatabaseTests {

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);

	private final OperationLatencies latencies = new OperationLatencies();

	private final StoreDatabase database = new StoreDatabase(new InMemoryFeatureStore(new BlobStore(this.memory)),
			this.latencies);

	@AfterEach
	void close() {
		this.memory.close();
	}

	@Test
	void bytesOfAnyKindAreReadAsTheyWereWritten() {
		byte[] bytes = new byte[StoreDatabase.RECORD_BYTES];
		new Random(2026).nextBytes(bytes);
		// numbers that are none, one of them a signaling one
		bytes[2] = (byte) 0x80;
		bytes[3] = 0x7f;
		bytes[6] = (byte) 0xff;
		bytes[7] = (byte) 0xff;
		assertThat(this.database.insert("", "user1", record(new byte[StoreDatabase.RECORD_BYTES])))
			.isEqualTo(Status.OK);
		assertThat(this.database.update("", "user1", record(bytes))).isEqualTo(Status.OK);
		Map<String, ByteIterator> found = new HashMap<>();
		assertThat(this.database.read("", "user1", null, found)).isEqualTo(Status.OK);
		assertThat(found).containsOnlyKeys("field0");
		assertThat(found.get("field0").toArray()).isEqualTo(bytes);
		assertThat(this.database.failure()).isNull();
	}

	@Test
	void scansBeginWithTheirKey() {
		List<String> keys = List.of("user0", "user1", "user10", "user100", "user1000", "user11", "user12", "user9",
				"user90", "user91", "user99");
		keys.forEach((key) -> this.database.insert("", key, record(new byte[StoreDatabase.RECORD_BYTES])));
		for (int i = 0; i < keys.size(); i++) {
			Vector<HashMap<String, ByteIterator>> found = new Vector<>();
			this.database.scan("", keys.get(i), 3, null, found);
			assertThat(this.database.failure()).as("a scan from %s", keys.get(i)).isNull();
			assertThat(found).hasSize(Math.min(3, keys.size() - i));
		}
	}

	@Test
	void whatIsNotThereIsAFailure() {
		this.database.read("", "user1", null, new HashMap<>());
		assertThat(this.database.failure()).isEqualTo("a read of user1 has found nothing");
		this.database.scan("", "user2", 3, null, new Vector<>());
		assertThat(this.database.failure()).isEqualTo("a scan of 3 records from user2 has found 0, from nothing");
		this.database.update("", "user3", record(new byte[StoreDatabase.RECORD_BYTES]));
		assertThat(this.database.failure()).isEqualTo("an update of user3, which was not there");
		this.database.insert("", "user4", record(new byte[8]));
		this.database.read("", "user4", null, new HashMap<>());
		assertThat(this.database.failure()).isEqualTo("user4 has 8 bytes (expected: 1000)");
	}

	@Test
	void readAndUpdateOfOneTransactionAreMeasuredTogetherToo() {
		this.database.insert("", "user1", record(new byte[StoreDatabase.RECORD_BYTES]));
		this.database.read("", "user1", null, new HashMap<>());
		this.database.update("", "user1", record(new byte[StoreDatabase.RECORD_BYTES]));
		assertThat(line()).doesNotContain("read-modify-write");
		this.database.beginReadModifyWrite();
		this.database.read("", "user1", null, new HashMap<>());
		this.database.update("", "user1", record(new byte[StoreDatabase.RECORD_BYTES]));
		assertThat(line()).contains("all:5.0:", " read:2.0:", " update:2.0:", " insert:1.0:",
				" read-modify-write:1.0:");
	}

	private String line() {
		return this.latencies.toLine(TimeUnit.SECONDS.toNanos(1));
	}

	private static Map<String, ByteIterator> record(byte[] bytes) {
		return Map.of("field0", new ByteArrayByteIterator(bytes));
	}

}
