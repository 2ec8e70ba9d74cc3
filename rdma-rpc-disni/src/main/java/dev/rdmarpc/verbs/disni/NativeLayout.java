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

/**
 * Where what {@link NativeVerbs} fills in has its values: indexes of the arrays, byte
 * offsets of the event record (native byte order).
 */
final class NativeLayout {

	// NativeVerbs.queryDevice

	/** Transport: 0 for InfiniBand and RoCE, 1 for iWARP. */
	static final int DEVICE_TRANSPORT = 0;

	/** Queue pairs. */
	static final int DEVICE_MAX_QUEUE_PAIRS = 1;

	/** Requests of one queue of a queue pair. */
	static final int DEVICE_MAX_QUEUE_PAIR_WORK = 2;

	/** Scatter/gather elements of a request. */
	static final int DEVICE_MAX_SGE = 3;

	/** Scatter/gather elements of a Read; 0 where a device does not say. */
	static final int DEVICE_MAX_SGE_READ = 4;

	/** Completions of one queue. */
	static final int DEVICE_MAX_CQE = 5;

	/** Reads that a queue pair answers at a time. */
	static final int DEVICE_MAX_READ_RESPONDER = 6;

	/** Reads that a queue pair asks at a time. */
	static final int DEVICE_MAX_READ_INITIATOR = 7;

	/** Shared receive queues; 0 where there are none. */
	static final int DEVICE_MAX_SRQ = 8;

	/** Receives of one shared receive queue. */
	static final int DEVICE_MAX_SRQ_WORK = 9;

	/** Scatter/gather elements of a receive of a shared receive queue. */
	static final int DEVICE_MAX_SRQ_SGE = 10;

	/** The vendor's number at the IEEE. */
	static final int DEVICE_VENDOR_ID = 11;

	// NativeVerbs.queryPort

	/** State of {@code ibv_port_state}: 4 is active. */
	static final int PORT_STATE = 0;

	/** The longest message, in bytes. */
	static final int PORT_MAX_MESSAGE_BYTES = 1;

	/** {@link #PORT_STATE} of a port that carries traffic. */
	static final int PORT_STATE_ACTIVE = 4;

	// NativeVerbs.awaitEvent

	/** Size of an event record, in bytes. */
	static final int EVENT_BYTES = 296;

	/** {@code int}: type of {@code rdma_cm_event_type}. */
	static final int EVENT_TYPE = 0;

	/** {@code int}: 0, a negative errno, or the reason of a rejection. */
	static final int EVENT_STATUS = 4;

	/** {@code long}: the connection id, a new one for a connection request. */
	static final int EVENT_ID = 8;

	/** {@code long}: the listening id of a connection request, otherwise 0. */
	static final int EVENT_LISTENER = 16;

	/** {@code int}: Reads that this end is asked to answer at a time. */
	static final int EVENT_RESPONDER_RESOURCES = 24;

	/** {@code int}: Reads that this end may ask at a time. */
	static final int EVENT_INITIATOR_DEPTH = 28;

	/** {@code int}: length of the private data; some networks pad it with zeros. */
	static final int EVENT_PRIVATE_LENGTH = 32;

	/** The private data, up to 255 bytes. */
	static final int EVENT_PRIVATE_DATA = 40;

	private NativeLayout() {
	}

}
