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
import java.util.function.IntConsumer;
import java.util.zip.CRC32C;

import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.FpduFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.ReadRequestFlyweight;
import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * Builds one FPDU at a time in a {@link GatherBatch}: header, pieces of payload, pad and
 * CRC. Guarded by the reactor's lock.
 */
final class FpduWriter {

	/** The longest header: length field, untagged header and Read Request. */
	static final int MAX_HEADER_BYTES = FpduFlyweight.ULPDU_OFFSET + DdpUntaggedFlyweight.HEADER_BYTES
			+ ReadRequestFlyweight.HEADER_BYTES;

	/** The longest pad and CRC. */
	static final int MAX_TRAILER_BYTES = 3 + FpduFlyweight.CRC_BYTES;

	private final IntConsumer copyCounter;

	private final boolean crcEnabled;

	private final int copyThreshold;

	private final CRC32C crc = new CRC32C();

	private int ulpduBytes;

	private int crcFrom;

	/**
	 * Creates a writer.
	 * @param copyCounter told how many bytes of payload were copied
	 */
	FpduWriter(IntConsumer copyCounter, boolean crcEnabled, int copyThreshold) {
		this.copyCounter = copyCounter;
		this.crcEnabled = crcEnabled;
		this.copyThreshold = copyThreshold;
	}

	/**
	 * Begins an FPDU; the caller encodes the DDP header at the returned offset of the
	 * staging buffer.
	 */
	int begin(GatherBatch batch, int headerBytes, int payloadBytes) {
		int start = batch.position();
		this.ulpduBytes = headerBytes + payloadBytes;
		FpduFlyweight.ulpduLength(batch.staging(), start, this.ulpduBytes);
		batch.advance(FpduFlyweight.ULPDU_OFFSET + headerBytes);
		this.crcFrom = start;
		this.crc.reset();
		return start + FpduFlyweight.ULPDU_OFFSET;
	}

	/** Appends payload, copied or referenced according to its length. */
	void payload(GatherBatch batch, RegisteredMemory region, int offset, int length) {
		if (length > this.copyThreshold) {
			updateCrcFromStaging(batch);
			ByteBuffer view = batch.reference(region, offset, length);
			if (this.crcEnabled) {
				this.crc.update(view);
				view.position(offset);
			}
			return;
		}
		batch.staging().clear().put(batch.position(), region.memory(), offset, length);
		batch.advance(length);
		this.copyCounter.accept(length);
	}

	/** Ends the FPDU with pad and CRC. */
	void end(GatherBatch batch) {
		int at = batch.position();
		int pad = FpduFlyweight.padBytes(this.ulpduBytes);
		ByteBuffer staging = batch.staging().clear();
		for (int i = 0; i < pad; i++) {
			staging.put(at + i, (byte) 0);
		}
		batch.advance(pad);
		updateCrcFromStaging(batch);
		FpduFlyweight.crc(staging.clear(), at + pad, this.crcEnabled ? (int) this.crc.getValue() : 0);
		batch.advance(FpduFlyweight.CRC_BYTES);
	}

	private void updateCrcFromStaging(GatherBatch batch) {
		if (this.crcEnabled) {
			this.crc.update(batch.staging().limit(batch.position()).position(this.crcFrom));
			batch.staging().clear();
		}
		this.crcFrom = batch.position();
	}

}
