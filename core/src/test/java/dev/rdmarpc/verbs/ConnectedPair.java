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

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two endpoints that are connected.
 *
 * @param fixture whose loop drives them
 * @param left the side that connected
 * @param right the side that accepted
 * @param leftInfo what the left was told
 * @param rightInfo what the right was told
 */
record ConnectedPair(VerbsFixture fixture, VerbsEndpoint left, VerbsEndpoint right, ConnectionInfo leftInfo,
		ConnectionInfo rightInfo) {

	/** Sends an empty message from left to right, after which either may speak. */
	ConnectedPair greet() {
		long received = this.right.receive();
		long sent = this.left.send();
		awaitSuccess(this.left, sent);
		awaitSuccess(this.right, received);
		return this;
	}

	/** The same connection seen from the other end; after {@link #greet()}. */
	ConnectedPair reversed() {
		return new ConnectedPair(this.fixture, this.right, this.left, this.rightInfo, this.leftInfo);
	}

	Completed awaitSuccess(VerbsEndpoint endpoint, long id) {
		return this.fixture.awaitSuccess(endpoint, id);
	}

	/** Waits until both ends have failed and flushed. */
	void awaitEnd() {
		this.fixture.awaitSettled(this.left);
		this.fixture.awaitSettled(this.right);
	}

	/** Asserts the end of a connection on which the right refused what the left did. */
	void assertRefusedByRight(WorkStatus status) {
		awaitEnd();
		if (!this.fixture.explainsFaults()) {
			return;
		}
		assertThat(this.right.fault()).as("the fault at the side that refused")
			.extracting(QueuePairFault::status, QueuePairFault::origin)
			.containsExactly(status, QueuePairFault.Origin.LOCAL);
		assertThat(this.left.fault()).as("the fault at the side that was refused")
			.extracting(QueuePairFault::status, QueuePairFault::origin)
			.containsExactly(status, QueuePairFault.Origin.REMOTE);
		assertThat(this.left.fault().detail()).isNotBlank();
		assertThat(this.right.fault().detail()).isNotBlank();
	}

}
