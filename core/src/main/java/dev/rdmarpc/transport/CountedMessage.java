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

package dev.rdmarpc.transport;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.Patience;

/**
 * What a message counts for with the peer that has to take it, from when it is prepared,
 * or a small one submitted, until it is given back.
 */
abstract class CountedMessage extends OrderedMessage {

	private @Nullable SmallReplies counted;

	private int countedBytes;

	private boolean large;

	/**
	 * Counts a large message before there is memory for it.
	 * @param patience how long to wait for others to go
	 * @throws ReplyLimitException if the peer has not taken too much already
	 */
	final void countLarge(SmallReplies where, int bytes, Patience patience) {
		if (!where.peer().tryAdd(bytes, patience)) {
			throw new ReplyLimitException(where.peer().explain());
		}
		this.counted = where;
		this.countedBytes = bytes;
		this.large = true;
	}

	/** Counts a message unless it is a large one; driver. */
	final void countSmall(SmallReplies where, int bytes) {
		if (this.counted == null) {
			this.counted = where;
			this.countedBytes = bytes;
			this.large = false;
			where.add(bytes);
		}
	}

	/** Counts a message that carries what another one has, if that is counted; driver. */
	final void countSmallWith(CountedMessage other, int bytes) {
		SmallReplies where = other.counted;
		if (where != null) {
			countSmall(where, bytes);
		}
	}

	/** A message, if it is counted, counts for so much from now on; driver. */
	final void recount(int bytes) {
		SmallReplies where = this.counted;
		if (where == null) {
			return;
		}
		int more = bytes - this.countedBytes;
		this.countedBytes = bytes;
		if (this.large) {
			where.peer().add(more);
		}
		else {
			where.add(more);
		}
	}

	/** The message is about to be given back; the driver, if it was submitted. */
	final void uncount() {
		SmallReplies from = this.counted;
		if (from == null) {
			return;
		}
		this.counted = null;
		if (this.large) {
			from.peer().remove(this.countedBytes);
		}
		else {
			from.remove(this.countedBytes);
		}
	}

}
