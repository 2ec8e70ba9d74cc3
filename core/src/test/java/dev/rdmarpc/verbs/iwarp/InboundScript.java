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

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;

import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;

/**
 * Writes a stream of frames, right and wrong, as {@link InboundDecoderTarget} decides.
 */
final class InboundScript {

	private final InboundDecoderTarget.Choices choices;

	private final boolean crcEnabled;

	private final MemoryRegion writable;

	private final MemoryRegion readable;

	private final ByteArrayOutputStream stream = new ByteArrayOutputStream();

	private int sendNumber = 1;

	private int readNumber = 1;

	InboundScript(InboundDecoderTarget.Choices choices, boolean crcEnabled, MemoryRegion writable,
			MemoryRegion readable) {
		this.choices = choices;
		this.crcEnabled = crcEnabled;
		this.writable = writable;
		this.readable = readable;
	}

	ByteBuffer write() {
		while (this.choices.hasMore() && this.stream.size() < 1 << 20) {
			step();
		}
		return ByteBuffer.wrap(this.stream.toByteArray());
	}

	private void step() {
		switch (this.choices.below(10)) {
			case 0 -> this.stream.writeBytes(this.choices.bytes(this.choices.next()));
			case 1, 2 -> frame(Fpdu.send(this.sendNumber++, payload()));
			case 3 -> segmentedSend();
			case 4 -> frame(Fpdu.write(this.writable.remoteKey(),
					this.writable.remoteAddress() + this.choices.next() * 16L, payload()));
			case 5 -> frame(Fpdu.write(this.readable.remoteKey() + this.choices.below(2),
					this.readable.remoteAddress() + (byte) this.choices.next(), payload()));
			case 6 -> read();
			case 7 -> frame(Fpdu.tagged(this.choices.flag(), DdpControl.OPCODE_READ_RESPONSE, this.choices.nextInt(),
					this.choices.nextInt(), payload()));
			case 8 -> anything();
			default -> frame(Fpdu.untagged(true, DdpControl.OPCODE_SEND_SOLICITED_INVALIDATE,
					this.choices.flag() ? this.writable.remoteKey() : this.choices.nextInt(), 0, this.sendNumber++, 0,
					payload()));
		}
	}

	private void segmentedSend() {
		byte[] first = payload();
		frame(Fpdu.untagged(false, DdpControl.OPCODE_SEND, 0, 0, this.sendNumber, 0, first));
		frame(Fpdu.untagged(true, DdpControl.OPCODE_SEND, 0, 0, this.sendNumber++, first.length + this.choices.below(2),
				payload()));
	}

	private void read() {
		MemoryRegion source = this.choices.flag() ? this.writable : this.readable;
		frame(Fpdu.readRequest(this.readNumber++, this.choices.nextInt(), this.choices.nextInt(),
				this.choices.next() * 17L, source.remoteKey(),
				source.remoteAddress() + (byte) this.choices.next() * 8L));
	}

	private void anything() {
		byte[] segment = this.choices.bytes(this.choices.next());
		if (segment.length >= 2 && this.choices.flag()) {
			int control = DdpControl.of(this.choices.flag(), this.choices.flag(), this.choices.below(16));
			segment = Fpdu.withControl(segment, control);
		}
		frame(segment);
	}

	private byte[] payload() {
		int length = this.choices.flag() ? this.choices.next() : this.choices.next() * 8;
		byte[] payload = new byte[length];
		Arrays.fill(payload, (byte) length);
		return payload;
	}

	private void frame(byte[] segment) {
		byte[] frame = Fpdu.frame(segment, this.crcEnabled);
		if (this.choices.below(64) == 63) {
			frame[this.choices.next() % frame.length] ^= (byte) (1 << this.choices.below(8));
		}
		this.stream.writeBytes(frame);
	}

}
