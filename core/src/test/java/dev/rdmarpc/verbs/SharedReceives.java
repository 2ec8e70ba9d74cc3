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

package dev.rdmarpc.verbs;

import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** A shared receive queue with the account of what was posted to it. */
final class SharedReceives {

	private final SharedReceiveQueue queue;

	private final AtomicLong nextId;

	private final WorkLedger ledger;

	private final WorkRequest request;

	SharedReceives(SharedReceiveQueue queue, int number, int maxSegments) {
		this.queue = queue;
		this.nextId = new AtomicLong(0x5000_0000_0000_0000L | ((long) number << 40));
		this.ledger = new WorkLedger("shared receives " + number, false);
		this.request = new WorkRequest(maxSegments);
	}

	SharedReceiveQueue queue() {
		return this.queue;
	}

	WorkLedger ledger() {
		return this.ledger;
	}

	long receive(Segment... segments) {
		long id = this.nextId.incrementAndGet();
		assertThat(tryReceive(id, segments)).isEqualTo(PostResult.POSTED);
		return id;
	}

	PostResult tryReceive(long id, Segment... segments) {
		return this.ledger.post(Segment.addAll(this.request.receive(id), segments), this.queue::postReceive);
	}

}
