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

package dev.rdmarpc.verbs.shm.ring;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** How much of its ring a side uses. */
class OutboundRingTests {

	private static final int RING_BYTES = 1 << 20;

	private static final int PAYLOAD_BYTES = 4064;

	private static final int RECORD_BYTES = RingDescriptor.HEADER_BYTES + PAYLOAD_BYTES;

	private final ByteBuffer bytes = ByteBuffer.allocateDirect((int) RingDescriptor.totalBytes(RING_BYTES))
		.order(ByteOrder.nativeOrder());

	private final OutboundRing outbound = new OutboundRing(new SharedMemory(this.bytes, RING_BYTES, 0));

	private final InboundRing inbound = new InboundRing(new SharedMemory(this.bytes, RING_BYTES, 1));

	private int written;

	private int read;

	private int mostUsed;

	@Test
	void aPeerThatKeepsUpSeesTheStartOfTheRingFirstAndMoreOfItLater() throws Exception {
		int before = 0;
		for (int span = 64 * 1024; span < RING_BYTES; span *= 2) {
			this.mostUsed = 0;
			writeAndRead(16 * span / RECORD_BYTES);
			assertThat(this.mostUsed).isEqualTo(span).isGreaterThan(before);
			before = this.mostUsed;
		}
		this.mostUsed = 0;
		writeAndRead(4 * RING_BYTES / RECORD_BYTES);
		assertThat(this.mostUsed).isEqualTo(RING_BYTES);
	}

	@Test
	void aPeerThatDoesNotKeepUpGetsAsMuchAsTheRingHolds() throws Exception {
		for (int i = 0; i < RING_BYTES / RECORD_BYTES; i++) {
			write();
		}
		assertThat(this.outbound.tryClaim(0, 0)).isEqualTo(-1);
		assertThat(this.mostUsed).isEqualTo(RING_BYTES);
		readAll();
		assertThat(this.read).isEqualTo(this.written);
	}

	@Test
	void aFewRecordsThatAreNotReadYetDoNotKeepTheRestOfTheRingInUse() throws Exception {
		writeAndRead(15);
		write();
		write();
		assertThat(this.mostUsed).isEqualTo(16 * RECORD_BYTES);
		for (int i = 0; i < 14; i++) {
			write();
		}
		assertThat(this.mostUsed).isEqualTo(16 * RECORD_BYTES);
		assertThat(this.outbound.tryClaim(PAYLOAD_BYTES, PAYLOAD_BYTES))
			.as("the rest of the ring counts as used until the peer has skipped it")
			.isEqualTo(-1);
		assertThat(this.outbound.hasMoreRoom()).isFalse();
		readAll();
		assertThat(this.outbound.hasMoreRoom()).isTrue();
		write();
		readAll();
		assertThat(this.read).isEqualTo(this.written);
	}

	@Test
	void whatIsSkippedDoesNotCountAsWritten() throws Exception {
		writeAndRead(100);
		long paddings = 100 * RECORD_BYTES / (64 * 1024);
		assertThat(this.outbound.writtenBytes())
			.isEqualTo(100L * RECORD_BYTES + paddings * RingDescriptor.HEADER_BYTES);
		assertThat(this.outbound.unpublishedBytes()).isZero();
		assertThat(this.outbound.tail()).isGreaterThan(paddings * (RING_BYTES - 64L * 1024));
	}

	@ParameterizedTest
	@ValueSource(longs = { 65536 + 32, 65535, -1, Long.MIN_VALUE })
	void aHeadThatCannotBeIsRefusedAlsoWhereTheStartOfTheRingIsDue(long wrong) throws Exception {
		writeAndRead(16);
		assertThat(this.outbound.tail()).isEqualTo(65536);
		this.bytes.putLong(RingDescriptor.SIDE_BYTES + RingDescriptor.HEAD, wrong);
		assertThatThrownBy(() -> this.outbound.tryClaim(0, 0)).isInstanceOf(LinkFailure.class)
			.hasMessageContaining("head at " + wrong);
	}

	private void writeAndRead(int records) throws LinkFailure {
		for (int i = 0; i < records; i++) {
			write();
			readAll();
		}
	}

	private void write() throws LinkFailure {
		assertThat(this.outbound.tryClaim(PAYLOAD_BYTES, PAYLOAD_BYTES)).isEqualTo(PAYLOAD_BYTES);
		int index = this.outbound.payloadIndex();
		this.outbound.bytes().putInt(index, this.written);
		int end = index + PAYLOAD_BYTES - RingDescriptor.CONTROL_BYTES;
		this.mostUsed = Math.max(this.mostUsed, end);
		long before = this.outbound.writtenBytes();
		this.outbound.commit(RingDescriptor.SEND, 0, this.written, 0, 0, 0, PAYLOAD_BYTES);
		assertThat(this.outbound.writtenBytes()).isEqualTo(before + RECORD_BYTES);
		assertThat(this.outbound.unpublishedBytes()).isBetween(RECORD_BYTES,
				RECORD_BYTES + RingDescriptor.HEADER_BYTES);
		this.outbound.publish();
		this.written++;
	}

	private void readAll() throws LinkFailure {
		while (this.inbound.hasRecord()) {
			this.inbound.open();
			if (this.inbound.kind() != RingDescriptor.PADDING) {
				assertThat(this.inbound.sequence()).isEqualTo(this.read);
				assertThat(this.inbound.bytes().getInt(this.inbound.payloadIndex())).isEqualTo(this.read);
				this.read++;
			}
			this.inbound.release();
		}
		this.inbound.publish();
	}

}
