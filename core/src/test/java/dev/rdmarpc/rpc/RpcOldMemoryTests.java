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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.Frames;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What was in a server's memory before is shown to nobody: all of its memory was filled
 * with a pattern, and no byte of that is in anything that it sends, padding and reserved
 * fields included.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcOldMemoryTests {

	/** No length, offset or text here has it. */
	private static final byte PATTERN = (byte) 0xD7;

	private static final int[] SIZES = { 64, 256, 1024, 8192, 65536, 1 << 20 };

	private static final int PART = 100;

	private static final ServiceDescriptor THINGS = ServiceDescriptor.of(Things.class.getName(), Things.class,
			new FlatBuffersCodec());

	@Test
	void repliesShowNothingOfIt() throws Exception {
		TestEnvironment.assumeTcp();
		try (RpcFixture fixture = new RpcFixture()) {
			fill(fixture.serverMemory);
			try (RpcServer server = fixture.startServer(Things.class, new Made());
					HostileSocket peer = new HostileSocket(server.port()).open()) {
				await(peer, 2, "HELLO_REPLY");
				int replies = 0;
				for (int size = 0; size < 40; size++) {
					for (MethodDescriptor method : THINGS.methods()) {
						peer.write(peer
							.framed(Frames.request(Math.min(1, replies), replies++, method.id(), 0, 0, new byte[0])));
						await(peer, 4, method.name());
					}
				}
				peer.write(peer.framed(Frames.request(1, replies, 4711, 0, 0, new byte[0])));
				await(peer, 4, "no method");
				byte[] nonsense = new byte[24];
				peer.write(peer.framed(
						Frames.request(1, replies + 1, THINGS.methods().get(0).id(), 1, nonsense.length, nonsense)));
				await(peer, 4, "nonsense");
			}
		}
	}

	/** Fills what is free with the pattern; it stays there. */
	private static void fill(RegisteredMemory memory) {
		List<RegisteredBuffer> all = new ArrayList<>();
		for (int size : SIZES) {
			for (int i = 0; i < PART && memory.metrics().allocatedBytes() < memory.options().maxBytes() / 2; i++) {
				RegisteredBuffer buffer = memory.allocate(size);
				ByteBuffer bytes = buffer.buffer().clear();
				while (bytes.hasRemaining()) {
					bytes.put(PATTERN);
				}
				all.add(buffer);
			}
		}
		all.forEach(RegisteredBuffer::release);
	}

	private static void await(HostileSocket peer, int expected, String what) throws IOException {
		int type;
		do {
			byte[] whole = peer.readWhole();
			assertThat(whole).as(what).doesNotContain(PATTERN);
			type = whole[20];
		}
		while (type != expected);
	}

	/** What is served, with gaps of each size in its messages. */
	interface Things {

		Made.Thing thing();

		String words();

		byte[] bytes();

		String failure();

		void nothing();

	}

	/** Makes longer ones each time. */
	static final class Made implements Things {

		private int size;

		@Override
		public Thing thing() {
			return new Thing((byte) 1, 2.0, (short) 3, "x".repeat(this.size++ % 9), true);
		}

		@Override
		public String words() {
			return "y".repeat(this.size);
		}

		@Override
		public byte[] bytes() {
			return new byte[this.size];
		}

		@Override
		public String failure() {
			throw new RpcException(RpcStatus.NOT_FOUND, "z".repeat(this.size));
		}

		@Override
		public void nothing() {
		}

		/** A record with gaps. */
		record Thing(byte one, double two, short three, String four, boolean five) {
		}

	}

}
