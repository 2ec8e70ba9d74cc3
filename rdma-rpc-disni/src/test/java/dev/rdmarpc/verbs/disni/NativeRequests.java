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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import com.ibm.disni.util.MemoryUtils;

/** Registered memory and the requests that name it, laid out as libibverbs reads them. */
final class NativeRequests implements AutoCloseable {

	static final int WRITE = 0;

	static final int SEND = 2;

	static final int READ = 4;

	static final int SIGNALED = 2;

	private static final int SEND_BYTES = 128;

	private static final int RECEIVE_BYTES = 32;

	private static final int SEGMENT_BYTES = 16;

	final ByteBuffer memory;

	final long address;

	final long region;

	final int localKey;

	final int remoteKey;

	/** Keeps what the library may look at from being collected. */
	private final List<ByteBuffer> requests = new ArrayList<>();

	NativeRequests(long domain, int bytes, int access) throws IOException {
		this.memory = ByteBuffer.allocateDirect(bytes);
		this.address = addressOf(this.memory);
		ByteBuffer keys = buffer(12);
		long target = addressOf(keys);
		this.region = NativeCalls.DISPATCHER._regMr(domain, this.address, bytes, access, target, target + 4,
				target + 8);
		this.localKey = keys.getInt(0);
		this.remoteKey = keys.getInt(4);
	}

	/** A send-queue request of so many segments that follow each other in the memory. */
	ByteBuffer request(int opcode, long id, int offset, int segments, int segmentBytes, long remoteAddress, int key) {
		ByteBuffer work = buffer(SEND_BYTES + segments * SEGMENT_BYTES);
		work.putLong(0, id);
		work.putLong(16, addressOf(work) + SEND_BYTES);
		work.putInt(24, segments);
		work.putInt(28, opcode);
		work.putInt(32, SIGNALED);
		work.putLong(40, remoteAddress);
		work.putInt(48, key);
		segments(work, SEND_BYTES, offset, segments, segmentBytes);
		return work;
	}

	/** A receive. */
	ByteBuffer receive(long id, int offset, int segments, int segmentBytes) {
		ByteBuffer work = buffer(RECEIVE_BYTES + segments * SEGMENT_BYTES);
		work.putLong(0, id);
		work.putLong(16, addressOf(work) + RECEIVE_BYTES);
		work.putInt(24, segments);
		segments(work, RECEIVE_BYTES, offset, segments, segmentBytes);
		return work;
	}

	private void segments(ByteBuffer work, int at, int offset, int segments, int segmentBytes) {
		for (int i = 0; i < segments; i++) {
			work.putLong(at + i * SEGMENT_BYTES, this.address + offset + (long) i * segmentBytes);
			work.putInt(at + i * SEGMENT_BYTES + 8, segmentBytes);
			work.putInt(at + i * SEGMENT_BYTES + 12, this.localKey);
		}
	}

	void put(int offset, String text) {
		this.memory.put(offset, text.getBytes(StandardCharsets.UTF_8));
	}

	String get(int offset, int length) {
		byte[] bytes = new byte[length];
		this.memory.get(offset, bytes);
		return new String(bytes, StandardCharsets.UTF_8);
	}

	static long addressOf(ByteBuffer work) {
		return MemoryUtils.getAddress(work);
	}

	private ByteBuffer buffer(int bytes) {
		ByteBuffer work = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
		this.requests.add(work);
		return work;
	}

	@Override
	public void close() throws IOException {
		NativeVerbs.close(this.region);
	}

}
