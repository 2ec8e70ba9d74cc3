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

package dev.rdmarpc.verbs.iwarp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpTaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two endpoints whose connection is recorded, and how many FPDUs of each opcode what was
 * posted on them must make.
 */
final class CaptureSession implements AutoCloseable {

	/** Bytes of each region of the sides. */
	static final int REGION_BYTES = 160_000;

	private final RecordingProxy proxy;

	private final ConnectedPair pair;

	private final int maxUlpduBytes;

	private final int hangUps;

	final Side client;

	final Side server;

	CaptureSession(IwarpOptions clientOptions, IwarpOptions serverOptions, int hangUps, long flipAt) {
		AtomicReference<RecordingProxy> opened = new AtomicReference<>();
		this.pair = new ConnectedPair(clientOptions, serverOptions, 64, 64,
				(address) -> open(opened, address, hangUps, flipAt));
		this.proxy = opened.get();
		this.hangUps = hangUps;
		this.maxUlpduBytes = (clientOptions.maxUlpduBytes() > 0) ? clientOptions.maxUlpduBytes()
				: SocketTuning.maxUlpduBytes(1 << 20, false);
		this.client = new Side(this.pair.client);
		this.server = new Side(this.pair.server);
		if (hangUps == 0 && clientOptions.peerToPeer()) {
			this.client.frames[DdpControl.OPCODE_WRITE]++;
		}
	}

	private static InetSocketAddress open(AtomicReference<RecordingProxy> opened, InetSocketAddress address,
			int hangUps, long flipAt) {
		try {
			RecordingProxy proxy = new RecordingProxy(address, hangUps, flipAt);
			opened.set(proxy);
			return proxy.address();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** The number of the connection that was established. */
	int connection() {
		return this.hangUps;
	}

	/** Sends with and without solicited event, Writes and Reads, one invalidation. */
	void exchange() {
		MemoryRegion lent = this.server.endpoint.lend(this.server.endpoint.queuePair, 64);
		this.server.receive(40);
		this.client.receive(10);
		int[] sizes = { 0, 1, 13, 1424, 1425, 5000, 70_000 };
		for (int size : sizes) {
			this.client.post(this.client.request().send(this.client.nextId()), size);
			this.client.post(this.client.request().sendSolicited(this.client.nextId()), size);
			this.client.post(this.client.writeTo(this.server), size);
			this.client.post(this.client.readFrom(this.server), size);
			this.server.endpoint.poll();
		}
		this.client.post(this.client.request().sendWithInvalidate(this.client.nextId(), lent.remoteKey()), 3000);
		int received = 2 * sizes.length + 1;
		await(() -> this.client.isDone() && this.server.received() == received);
		assertThat(lent.isValid()).isFalse();
		for (int size : new int[] { 2, 40_000 }) {
			this.server.post(this.server.request().send(this.server.nextId()), size);
			this.server.post(this.server.writeTo(this.client), size);
			this.server.post(this.server.readFrom(this.client), size);
		}
		await(() -> this.server.isDone() && this.client.received() == 2);
	}

	void await(BooleanSupplier condition) {
		Endpoint.pollUntil(condition, this.client.endpoint, this.server.endpoint);
	}

	/** Ends the connection and returns what was recorded. */
	Recording end() throws InterruptedException {
		this.client.endpoint.queuePair.disconnect();
		return awaitEnd();
	}

	/** Waits until the connection has ended and returns what was recorded. */
	Recording awaitEnd() throws InterruptedException {
		await(() -> !this.client.endpoint.faults.isEmpty() && !this.server.endpoint.faults.isEmpty());
		Recording recording = this.proxy.recording();
		recording.awaitEnds(2 + 2 * this.hangUps);
		return recording;
	}

	@Override
	public void close() throws IOException {
		this.pair.close();
		this.proxy.close();
	}

	/** One end of the connection. */
	final class Side {

		private static final int RECEIVE_ID = 100_000;

		final Endpoint endpoint;

		/** FPDUs that this side has to send, by opcode. */
		final int[] frames = new int[DdpControl.OPCODE_TERMINATE + 1];

		/** Lengths of the Sends of all kinds, in their order. */
		final List<Long> sends = new ArrayList<>();

		/** What is sent, and written and read by the other side. */
		final MemoryRegion memory;

		private final MemoryRegion received;

		private int posted;

		Side(Endpoint endpoint) {
			this.endpoint = endpoint;
			this.memory = endpoint.register(REGION_BYTES);
			this.received = endpoint.register(REGION_BYTES);
		}

		WorkRequest request() {
			return this.endpoint.request;
		}

		int nextId() {
			return this.posted;
		}

		void receive(int count) {
			for (int i = 0; i < count; i++) {
				this.endpoint.receive(RECEIVE_ID + i, this.received);
			}
		}

		WorkRequest writeTo(Side other) {
			return request().write(nextId(), other.received.remoteAddress(), other.received.remoteKey());
		}

		WorkRequest readFrom(Side other) {
			return request().read(nextId(), other.memory.remoteAddress(), other.memory.remoteKey());
		}

		/** Posts a request for so many bytes, in up to three pieces. */
		void post(WorkRequest request, int bytes) {
			MemoryRegion region = (request.opcode() == WorkOpcode.READ) ? this.received : this.memory;
			int piece = bytes / 3;
			request.addSegment(region, 0, piece).addSegment(region, piece, piece);
			request.addSegment(region, 2 * piece, bytes - 2 * piece);
			count(request);
			assertThat(this.endpoint.queuePair.postSend(request)).isEqualTo(PostResult.POSTED);
			this.endpoint.queuePair.ringDoorbell();
			this.posted++;
		}

		private void count(WorkRequest request) {
			int bytes = (int) request.totalBytes();
			int untagged = segments(bytes, DdpUntaggedFlyweight.HEADER_BYTES);
			if (request.opcode() != WorkOpcode.READ && request.opcode() != WorkOpcode.WRITE) {
				this.sends.add((long) bytes);
			}
			switch (request.opcode()) {
				case SEND -> this.frames[DdpControl.OPCODE_SEND] += untagged;
				case SEND_SOLICITED -> this.frames[DdpControl.OPCODE_SEND_SOLICITED] += untagged;
				case SEND_WITH_INVALIDATE -> this.frames[DdpControl.OPCODE_SEND_INVALIDATE] += untagged;
				case WRITE -> this.frames[DdpControl.OPCODE_WRITE] += segments(bytes, DdpTaggedFlyweight.HEADER_BYTES);
				case READ -> countRead(request);
				default -> throw new IllegalArgumentException(request.opcode().toString());
			}
		}

		/**
		 * One Read Request for each local segment that is not empty, but at least one.
		 */
		private void countRead(WorkRequest request) {
			Side other = (this == CaptureSession.this.client) ? CaptureSession.this.server : CaptureSession.this.client;
			int before = this.frames[DdpControl.OPCODE_READ_REQUEST];
			for (int i = 0; i < request.segmentCount(); i++) {
				int bytes = request.segmentLength(i);
				if (bytes > 0 || (request.totalBytes() == 0 && i == 0)) {
					this.frames[DdpControl.OPCODE_READ_REQUEST]++;
					other.frames[DdpControl.OPCODE_READ_RESPONSE] += segments(bytes, DdpTaggedFlyweight.HEADER_BYTES);
				}
			}
			assertThat(this.frames[DdpControl.OPCODE_READ_REQUEST]).isGreaterThan(before);
		}

		private int segments(int bytes, int headerBytes) {
			int most = CaptureSession.this.maxUlpduBytes - headerBytes;
			return Math.max(1, (bytes + most - 1) / most);
		}

		/** Whether all that was posted has succeeded. */
		boolean isDone() {
			assertThat(this.endpoint.completions).allMatch((done) -> done.status() == WorkStatus.SUCCESS);
			return this.endpoint.completions.stream().filter((done) -> done.id() < RECEIVE_ID).count() == this.posted;
		}

		long received() {
			return this.endpoint.completions.stream().filter((done) -> done.id() >= RECEIVE_ID).count();
		}

	}

}
