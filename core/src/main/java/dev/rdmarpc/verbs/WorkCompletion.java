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

import org.jspecify.annotations.Nullable;

/**
 * A reusable record of how one work request ended, filled by
 * {@link CompletionQueue#poll}.
 *
 * <p>
 * Not thread-safe.
 */
public final class WorkCompletion {

	private long id;

	private WorkStatus status = WorkStatus.SUCCESS;

	private WorkOpcode opcode = WorkOpcode.SEND;

	private long byteLength;

	private int invalidatedKey;

	private @Nullable QueuePair queuePair;

	/** Fills the record; for providers. What is the same already is not stored again. */
	public void set(long id, WorkStatus status, WorkOpcode opcode, long byteLength, int invalidatedKey,
			QueuePair queuePair) {
		this.id = id;
		if (this.status != status) {
			this.status = status;
		}
		if (this.opcode != opcode) {
			this.opcode = opcode;
		}
		this.byteLength = byteLength;
		this.invalidatedKey = invalidatedKey;
		if (this.queuePair != queuePair) {
			this.queuePair = queuePair;
		}
	}

	/** The id of the work request. */
	public long id() {
		return this.id;
	}

	/** How it ended. */
	public WorkStatus status() {
		return this.status;
	}

	/** Whether it succeeded. */
	public boolean isSuccess() {
		return this.status == WorkStatus.SUCCESS;
	}

	/** What it was. */
	public WorkOpcode opcode() {
		return this.opcode;
	}

	/** Payload bytes transferred; defined on success only. */
	public long byteLength() {
		return this.byteLength;
	}

	/** The key of the local region that the received Send invalidated, or 0. */
	public int invalidatedKey() {
		return this.invalidatedKey;
	}

	/**
	 * The queue pair it belongs to.
	 * @throws IllegalStateException if the record was never filled
	 */
	public QueuePair queuePair() {
		QueuePair owner = this.queuePair;
		if (owner == null) {
			throw new IllegalStateException("completion was never filled");
		}
		return owner;
	}

	@Override
	public String toString() {
		return this.opcode + " " + this.id + " " + this.status + " " + this.byteLength + " B";
	}

}
