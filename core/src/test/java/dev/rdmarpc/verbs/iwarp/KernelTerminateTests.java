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

import java.nio.ByteBuffer;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What our stack says about the Terminates of the Linux kernel's, and does about its
 * wrong wishes. The peer is that of {@link KernelPeer}.
 */
class KernelTerminateTests {

	private static final int RECEIVES = 4;

	/** The id of the work at fault; receives have those from 0. */
	private static final long WORK = 200;

	private VerbsDevice device;

	private Endpoint endpoint;

	private MemoryRegion memory;

	@BeforeEach
	void find() {
		KernelPeer.address();
	}

	@AfterEach
	void close() {
		if (this.device != null) {
			this.endpoint.close();
			this.device.close();
		}
	}

	/** Connects, and has the kernel Read the memory unless its name is wrong. */
	private void connect(CrcMode crc, int keyDistance) throws Exception {
		for (int attempt = 1; true; attempt++) {
			connect(crc);
			this.memory.memory()
				.put(0, KernelPeer.advertisement(this.memory.remoteAddress(), this.memory.remoteKey() + keyDistance));
			this.endpoint
				.send(this.endpoint.request.send(100).addSegment(this.memory, 0, KernelPeer.ADVERTISEMENT_BYTES));
			if (polled() || attempt == KernelPeer.ATTEMPTS) {
				return;
			}
		}
	}

	private void connect(CrcMode crc) throws Exception {
		long begin = System.nanoTime();
		while (true) {
			close();
			this.device = new IwarpProvider(IwarpOptions.DEFAULTS.withCrc(crc)).openDevice(null);
			this.endpoint = new Endpoint(this.device);
			this.memory = this.endpoint.register(4096);
			for (int i = 0; i < RECEIVES; i++) {
				this.endpoint.receive(i, this.endpoint.register(64));
			}
			try {
				this.device.connect(this.endpoint.queuePair, KernelPeer.address(), ConnectOptions.DEFAULTS)
					.get(20, TimeUnit.SECONDS);
				return;
			}
			catch (ExecutionException ex) {
				KernelPeer.pauseOrThrow(begin, ex);
			}
		}
	}

	/** Whether the kernel has answered, or the connection ended, in time. */
	private boolean polled() {
		long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(KernelPeer.PATIENCE_MILLIS);
		while (System.nanoTime() < deadline) {
			this.endpoint.poll();
			if (this.endpoint.has(0)) {
				return true;
			}
			Thread.onSpinWait();
		}
		return false;
	}

	/**
	 * Asks for something that the kernel refuses; again if the connection was only
	 * closed, as {@link KernelPeer#endOf} says.
	 */
	private QueuePairFault faultAfter(CrcMode crc, Request request, int bytes) throws Exception {
		for (int attempt = 1; true; attempt++) {
			connect(crc, 0);
			this.endpoint.send(request.make(this.endpoint.request).addSegment(this.memory, 0, bytes));
			QueuePairFault fault = awaitFault();
			if (fault.origin() == Origin.REMOTE || attempt == KernelPeer.ATTEMPTS) {
				return fault;
			}
		}
	}

	private QueuePairFault awaitFault() {
		Endpoint.pollUntil(() -> !this.endpoint.faults.isEmpty(), this.endpoint);
		return this.endpoint.faults.get(0);
	}

	static Stream<Breach> breaches() {
		return Stream.of(
				new Breach("Write to an unknown STag", "1/1/0x00", WorkStatus.REMOTE_ACCESS_ERROR,
						(request) -> request.write(WORK, 0, 0x12345678), 16),
				new Breach("Read from an unknown STag", "0/1/0x00", WorkStatus.REMOTE_ACCESS_ERROR,
						(request) -> request.read(WORK, 0, 0x12345678), 16),
				new Breach("Send too long", "1/2/0x02", WorkStatus.REMOTE_INVALID_REQUEST,
						(request) -> request.send(WORK), 17),
				new Breach("Send far too long", "1/2/0x02", WorkStatus.REMOTE_INVALID_REQUEST,
						(request) -> request.send(WORK), 4096),
				new Breach("Send that invalidates an unknown STag", "0/2/0x09", WorkStatus.REMOTE_ACCESS_ERROR,
						(request) -> request.sendWithInvalidate(WORK, 0x12345678), 16));
	}

	@ParameterizedTest
	@MethodSource("breaches")
	void whatTheKernelRefusesIsReportedWithItsReason(Breach breach) throws Exception {
		for (CrcMode crc : new CrcMode[] { CrcMode.OFF, CrcMode.REQUIRED }) {
			QueuePairFault fault = faultAfter(crc, breach.request, breach.bytes);
			assertThat(fault.origin()).as("%s", fault).isEqualTo(Origin.REMOTE);
			assertThat(fault.detail()).contains("(" + breach.error + ")");
			assertThat(fault.status()).isEqualTo(breach.status);
			Endpoint.pollUntil(() -> this.endpoint.has(WORK), this.endpoint);
			assertThat(this.endpoint.completion(WORK).status()).isIn(WorkStatus.SUCCESS, breach.status);
		}
	}

	@Test
	void aReadThatTheKernelRefusesFailsWithItsReason() throws Exception {
		faultAfter(CrcMode.OFF, (request) -> request.read(WORK, 0, 0x12345678), 8);
		Endpoint.pollUntil(() -> this.endpoint.has(WORK), this.endpoint);
		assertThat(this.endpoint.completion(WORK).status()).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
	}

	@ParameterizedTest
	@EnumSource(names = { "OFF", "REQUIRED" })
	void theKernelIsRefusedWhatItMayNotRead(CrcMode crc) throws Exception {
		connect(crc, 1);
		QueuePairFault fault = awaitFault();
		assertThat(fault.origin()).isEqualTo(Origin.LOCAL);
		assertThat(fault.detail()).containsIgnoringCase("Read");
	}

	/** The kernel has read what there was, and says so. */
	@ParameterizedTest
	@EnumSource(names = { "OFF", "REQUIRED" })
	void theKernelReadsAndAnswers(CrcMode crc) throws Exception {
		connect(crc, 0);
		assertThat(this.endpoint.completion(0).status()).isEqualTo(WorkStatus.SUCCESS);
		assertThat(this.endpoint.completion(0).bytes()).isEqualTo(KernelPeer.ADVERTISEMENT_BYTES);
		assertThat(this.endpoint.faults).isEmpty();
		ByteBuffer expected = ByteBuffer
			.wrap(KernelPeer.advertisement(this.memory.remoteAddress(), this.memory.remoteKey()));
		assertThat(this.memory.memory().slice(0, expected.capacity())).isEqualTo(expected);
	}

	/**
	 * Something that the kernel must refuse.
	 *
	 * @param name what is wrong
	 * @param error layer, type and code
	 * @param status of the work, and of the fault
	 * @param request makes the request
	 * @param bytes its length
	 */
	record Breach(String name, String error, WorkStatus status, Request request, int bytes) {

		@Override
		public String toString() {
			return this.name;
		}

	}

	/** Makes a request, to which a segment is added. */
	@FunctionalInterface
	interface Request {

		WorkRequest make(WorkRequest request);

	}

}
