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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;

import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.iwarp.IwarpOptions;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.FpduFlyweight;
import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * What one FPDU costs apart from the socket: encoding an untagged segment the way a Send
 * does, and checking and placing it the way a receive does. Lies in the provider's
 * package because the framing is nobody else's business.
 */
@NullMarked
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class FramingBenchmark {

	/** Size of the payload; the largest nearly fills an FPDU. */
	@Param({ "64", "1024", "8192", "65472" })
	public int payloadBytes;

	/** Whether frames carry a CRC. */
	@Param({ "true", "false" })
	public boolean crc;

	private final CRC32C checksum = new CRC32C();

	private final GatherBatch batch = new GatherBatch(ByteBuffer.allocateDirect(GatherBatch.STAGING_BYTES));

	private final ByteBuffer wire = ByteBuffer.allocateDirect(FpduFlyweight.MAX_BYTES);

	private final ByteBuffer place = ByteBuffer.allocateDirect(FpduFlyweight.MAX_BYTES);

	private final VerbsDevice device = new IwarpProvider().openDevice(null);

	private @Nullable RegisteredMemory region;

	private @Nullable FpduWriter writer;

	private int sequenceNumber;

	/** Encodes the frame that {@link #parse()} reads. */
	@Setup
	public void setUp() {
		ByteBuffer memory = ByteBuffer.allocateDirect(this.payloadBytes);
		for (int i = 0; i < this.payloadBytes; i++) {
			memory.put(i, (byte) i);
		}
		this.region = (RegisteredMemory) this.device.allocateProtectionDomain()
			.registerMemory(memory, EnumSet.noneOf(AccessFlag.class));
		this.writer = new FpduWriter((bytes) -> {
		}, this.crc, IwarpOptions.DEFAULTS.copyThresholdBytes());
		encodeInto(this.batch);
		this.batch.copyRemainder(this.wire.clear());
		this.batch.reset();
	}

	/** Closes the device. */
	@TearDown
	public void tearDown() {
		this.device.close();
	}

	/** Header, payload, pad and CRC into a gather list. */
	@Benchmark
	public long encode() {
		encodeInto(this.batch);
		long bytes = this.batch.remainingBytes();
		this.batch.reset();
		return bytes;
	}

	/** Length, CRC and header checked, payload copied to its place. */
	@Benchmark
	public int parse() {
		int ulpduBytes = FpduFlyweight.ulpduLength(this.wire, 0);
		int crcOffset = FpduFlyweight.totalBytes(ulpduBytes) - FpduFlyweight.CRC_BYTES;
		if (this.crc) {
			this.checksum.reset();
			this.checksum.update(this.wire.limit(crcOffset).position(0));
			this.wire.clear();
			if ((int) this.checksum.getValue() != FpduFlyweight.crc(this.wire, crcOffset)) {
				throw new IllegalStateException("CRC of a good frame is wrong");
			}
		}
		int ddp = FpduFlyweight.ULPDU_OFFSET;
		int control = DdpUntaggedFlyweight.control(this.wire, ddp);
		if (!DdpControl.isDdpVersion1(control) || !DdpControl.isRdmapVersion1(control)
				|| DdpControl.opcode(control) != DdpControl.OPCODE_SEND
				|| DdpUntaggedFlyweight.queueNumber(this.wire, ddp) != DdpControl.QUEUE_SEND) {
			throw new IllegalStateException("header of a good frame is wrong");
		}
		this.place.put(DdpUntaggedFlyweight.messageOffset(this.wire, ddp), this.wire,
				ddp + DdpUntaggedFlyweight.HEADER_BYTES, ulpduBytes - DdpUntaggedFlyweight.HEADER_BYTES);
		return DdpUntaggedFlyweight.messageSequenceNumber(this.wire, ddp);
	}

	@SuppressWarnings("NullAway") // set up before any benchmark runs
	private void encodeInto(GatherBatch target) {
		int ddp = this.writer.begin(target, DdpUntaggedFlyweight.HEADER_BYTES, this.payloadBytes);
		DdpUntaggedFlyweight.encode(target.staging(), ddp, true, DdpControl.OPCODE_SEND, 0, DdpControl.QUEUE_SEND,
				++this.sequenceNumber, 0);
		this.writer.payload(target, this.region, 0, this.payloadBytes);
		this.writer.end(target);
	}

}
