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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.support.PostedReceive;
import dev.rdmarpc.verbs.support.ReceiveSource;

/** Places the peer's Sends in posted receives. */
final class SendReceiver {

	private final LinkOwner owner;

	private final PeerAccess access;

	private final ReceiveSource source;

	private final PostedReceive receive;

	private long receivedBytes;

	private long messages;

	SendReceiver(LinkOwner owner, PeerAccess access, ReceiveSource source) {
		this.owner = owner;
		this.access = access;
		this.source = source;
		this.receive = new PostedReceive(source.maxReceiveSegments());
	}

	/**
	 * Places part of a Send, the open record.
	 * @return false if the completion queue has no room for its end
	 */
	boolean tryPlace(InboundRing ring) throws LinkFailure {
		boolean last = ring.hasFlag(RingDescriptor.LAST);
		if (last && !this.owner.hasRoom()) {
			return false;
		}
		if (!this.receive.isTaken()) {
			if (!this.source.tryTakeReceive(this.receive)) {
				throw LinkFailure.ofRequest(WorkStatus.REMOTE_INVALID_REQUEST, ring.sequence(),
						"Send found no receive posted that it may use");
			}
			this.receivedBytes = 0;
		}
		place(ring);
		if (last) {
			finish(ring);
		}
		return true;
	}

	/** How many messages have come whole. */
	long messages() {
		return this.messages;
	}

	private void place(InboundRing ring) throws LinkFailure {
		int length = ring.payloadBytes();
		if (!this.receive.permits(this.access.domain())) {
			throw LinkFailure.ofReceive(WorkStatus.LOCAL_PROTECTION_ERROR, WorkStatus.REMOTE_OPERATION_ERROR,
					ring.sequence(),
					"receive names memory outside its region, deregistered or of another protection domain");
		}
		if (this.receivedBytes + length > this.receive.totalBytes()) {
			throw LinkFailure.ofReceive(WorkStatus.LOCAL_LENGTH_ERROR, WorkStatus.REMOTE_INVALID_REQUEST,
					ring.sequence(), "Send of at least " + (this.receivedBytes + length) + " bytes into a receive of "
							+ this.receive.totalBytes());
		}
		copy(ring.bytes(), ring.payloadIndex(), length);
		this.receivedBytes += length;
	}

	private void copy(ByteBuffer source, int index, int count) {
		int from = index;
		while (from < index + count) {
			int piece = this.receive.piece(index + count - from);
			if (piece > 0) {
				this.receive.region().memory().put(this.receive.offset(), source, from, piece);
			}
			this.receive.advance(piece);
			from += piece;
		}
	}

	private void finish(InboundRing ring) throws LinkFailure {
		int invalidated = 0;
		if (ring.hasFlag(RingDescriptor.INVALIDATE)) {
			invalidated = ring.key();
			this.access.invalidate(invalidated, ring.sequence());
		}
		long id = this.receive.id();
		this.receive.clear();
		this.messages++;
		this.owner.received(id, this.receivedBytes, invalidated, ring.hasFlag(RingDescriptor.SOLICITED));
	}

	/** The receive that an unfinished message occupies, or {@code null}. */
	@Nullable PostedReceive unfinished() {
		return this.receive.isTaken() ? this.receive : null;
	}

}
