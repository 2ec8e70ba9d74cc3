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

package dev.rdmarpc.rpc;

import java.util.List;

/**
 * What those wait for who need a connection. Guarded by the connection; completed without
 * its lock.
 */
final class AwaitedChannels {

	private AwaitedChannel attempt = new AwaitedChannel();

	private AwaitedChannel upcoming = new AwaitedChannel();

	private AwaitedChannel ready = new AwaitedChannel();

	/** Whether somebody has come since the last attempt began. */
	private boolean asked;

	/** The outcome of an attempt that is still to begin, or success at any time. */
	AwaitedChannel soon(boolean waitForReady) {
		this.asked = true;
		return waitForReady ? this.ready : this.upcoming;
	}

	/** Whether somebody waits for an attempt that is still to begin. */
	boolean isAwaited() {
		return this.asked || this.ready.isAwaited();
	}

	/** The outcome of the attempt that has begun. */
	AwaitedChannel attempt() {
		return this.attempt;
	}

	/** An attempt begins, for those who wait for one. */
	void begin() {
		AwaitedChannel next = new AwaitedChannel();
		this.attempt = this.upcoming;
		this.upcoming = next;
		this.asked = false;
	}

	/** An attempt has succeeded; returns what to complete. */
	List<AwaitedChannel> succeeded() {
		List<AwaitedChannel> all = all();
		this.upcoming = new AwaitedChannel();
		this.ready = new AwaitedChannel();
		this.asked = false;
		return all;
	}

	/** All that anybody waits for. */
	List<AwaitedChannel> all() {
		return List.of(this.attempt, this.upcoming, this.ready);
	}

}
