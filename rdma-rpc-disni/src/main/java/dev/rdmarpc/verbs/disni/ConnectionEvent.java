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

package dev.rdmarpc.verbs.disni;

import java.util.Arrays;

/**
 * One event of the connection manager, filled again and again.
 *
 * <p>
 * Not thread-safe.
 */
final class ConnectionEvent {

	private ConnectionEventType type = ConnectionEventType.OTHER;

	private int status;

	private long id;

	private long listenId;

	private int responderResources;

	private int initiatorDepth;

	private byte[] privateData = new byte[0];

	void set(ConnectionEventType newType, int newStatus, long newId, long newListenId) {
		this.type = newType;
		this.status = newStatus;
		this.id = newId;
		this.listenId = newListenId;
		this.responderResources = 0;
		this.initiatorDepth = 0;
		this.privateData = new byte[0];
	}

	void setParameters(int newResponderResources, int newInitiatorDepth, byte[] newPrivateData) {
		this.responderResources = newResponderResources;
		this.initiatorDepth = newInitiatorDepth;
		this.privateData = newPrivateData;
	}

	ConnectionEventType type() {
		return this.type;
	}

	/** 0, a negative errno, or a reason of the protocol. */
	int status() {
		return this.status;
	}

	/** The id it is about. */
	long id() {
		return this.id;
	}

	/** The id that listens, of a connection request. */
	long listenId() {
		return this.listenId;
	}

	/** Reads the peer wants to have outstanding. */
	int responderResources() {
		return this.responderResources;
	}

	/** Reads the peer serves at once. */
	int initiatorDepth() {
		return this.initiatorDepth;
	}

	/** What the peer sent along. */
	byte[] privateData() {
		return this.privateData;
	}

	/**
	 * What the peer sent along, without the zeros that InfiniBand's messages of fixed
	 * size are filled up with.
	 */
	byte[] unpaddedPrivateData() {
		int length = this.privateData.length;
		while (length > 0 && this.privateData[length - 1] == 0) {
			length--;
		}
		return Arrays.copyOf(this.privateData, length);
	}

	@Override
	public String toString() {
		return this.type + " (status " + this.status + ")";
	}

}
