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

	/** Kind of node: 1 for an InfiniBand or RoCE adapter, 4 for an iWARP adapter. */
	static final int DEVICE_NODE_TYPE = 0;

	/** Transport: 0 for InfiniBand and RoCE, 1 for iWARP. */
	static final int DEVICE_TRANSPORT = 1;

	/** The node's globally unique identifier. */
	static final int DEVICE_NODE_GUID = 2;

	/** The longest region, in bytes. */
	static final int DEVICE_MAX_REGION_BYTES = 3;

	/** Queue pairs. */
	static final int DEVICE_MAX_QUEUE_PAIRS = 4;

	/** Requests of one queue of a queue pair. */
	static final int DEVICE_MAX_QUEUE_PAIR_WORK = 5;

	/** Flags of {@code ibv_device_cap_flags}. */
	static final int DEVICE_CAPABILITIES = 6;

	/** Scatter/gather elements of a request. */
	static final int DEVICE_MAX_SGE = 7;

	/** Scatter/gather elements of a Read; 0 where a device does not say. */
	static final int DEVICE_MAX_SGE_READ = 8;

	/** Completion queues. */
	static final int DEVICE_MAX_COMPLETION_QUEUES = 9;

	/** Completions of one queue. */
	static final int DEVICE_MAX_CQE = 10;

	/** Memory regions. */
	static final int DEVICE_MAX_REGIONS = 11;

	/** Protection domains. */
	static final int DEVICE_MAX_PROTECTION_DOMAINS = 12;

	/** Reads that a queue pair answers at a time. */
	static final int DEVICE_MAX_READ_RESPONDER = 13;

	/** Reads that the device answers at a time. */
	static final int DEVICE_MAX_READ_RESOURCES = 14;

	/** Reads that a queue pair asks at a time. */
	static final int DEVICE_MAX_READ_INITIATOR = 15;

	/** Memory windows; 0 where there are none. */
	static final int DEVICE_MAX_WINDOWS = 16;

	/** Shared receive queues; 0 where there are none. */
	static final int DEVICE_MAX_SRQ = 17;

	/** Receives of one shared receive queue. */
	static final int DEVICE_MAX_SRQ_WORK = 18;

	/** Scatter/gather elements of a receive of a shared receive queue. */
	static final int DEVICE_MAX_SRQ_SGE = 19;

	/** Ports, counted from 1. */
	static final int DEVICE_PORTS = 20;

	/** The vendor's number at the IEEE. */
	static final int DEVICE_VENDOR_ID = 21;

	/** The vendor's number of the part. */
	static final int DEVICE_VENDOR_PART_ID = 22;

	/** Completion vectors that completion queues can be spread over. */
	static final int DEVICE_COMPLETION_VECTORS = 23;

	// NativeVerbs.queryPort

	/** State of {@code ibv_port_state}: 4 is active. */
	static final int PORT_STATE = 0;

	/** The largest transfer unit, in bytes. */
	static final int PORT_MAX_MTU_BYTES = 1;

	/** The transfer unit in use, in bytes. */
	static final int PORT_ACTIVE_MTU_BYTES = 2;

	/** Link layer: 0 not said, 1 InfiniBand, 2 Ethernet. */
	static final int PORT_LINK_LAYER = 3;

	/** The longest message, in bytes. */
	static final int PORT_MAX_MESSAGE_BYTES = 4;

	/** Width in the code of the InfiniBand specification. */
	static final int PORT_ACTIVE_WIDTH = 5;

	/** Speed in the code of the InfiniBand specification. */
	static final int PORT_ACTIVE_SPEED = 6;

	/** Entries of the table of global identifiers. */
	static final int PORT_GID_COUNT = 7;

	/** Flags of {@code ibv_port_cap_flags}. */
	static final int PORT_CAPABILITIES = 8;

	/** Local identifier, InfiniBand only. */
	static final int PORT_LOCAL_IDENTIFIER = 9;

	/** {@link #PORT_STATE} of a port that carries traffic. */
	static final int PORT_STATE_ACTIVE = 4;

	// NativeVerbs.queryQueuePair

	/**
	 * State of {@code ibv_qp_state}: 1 initialized, 2 and 3 ready, 6 error. Some devices
	 * (siw) always say 0.
	 */
	static final int QUEUE_PAIR_STATE = 0;

	/** Requests of the send queue. */
	static final int QUEUE_PAIR_MAX_SENDS = 1;

	/** Receives of its own. */
	static final int QUEUE_PAIR_MAX_RECEIVES = 2;

	/** Scatter/gather elements of a send. */
	static final int QUEUE_PAIR_MAX_SEND_SEGMENTS = 3;

	/** Scatter/gather elements of a receive. */
	static final int QUEUE_PAIR_MAX_RECEIVE_SEGMENTS = 4;

	/** Bytes that a request can carry inline. */
	static final int QUEUE_PAIR_MAX_INLINE_BYTES = 5;

	/** Reads that it asks at a time, 0 where a device does not say. */
	static final int QUEUE_PAIR_READ_INITIATOR = 6;

	/** Reads that it answers at a time, 0 where a device does not say. */
	static final int QUEUE_PAIR_READ_RESPONDER = 7;

	/** The path's transfer unit, in bytes. */
	static final int QUEUE_PAIR_MTU_BYTES = 8;

	/** Time-out in the code of the InfiniBand specification. */
	static final int QUEUE_PAIR_TIMEOUT = 9;

	/** Retries after a time-out. */
	static final int QUEUE_PAIR_RETRIES = 10;

	/** Retries when the receiver was not ready, 7 for ever. */
	static final int QUEUE_PAIR_RECEIVER_NOT_READY_RETRIES = 11;

	/** What a sender waits for when the receiver was not ready, as a code. */
	static final int QUEUE_PAIR_RECEIVER_NOT_READY_TIMER = 12;

	/** {@link #QUEUE_PAIR_STATE} of a queue pair in error. */
	static final int QUEUE_PAIR_STATE_ERROR = 6;

	// NativeVerbs.querySharedReceiveQueue

	/** Receives it holds. */
	static final int SHARED_MAX_RECEIVES = 0;

	/** Scatter/gather elements of a receive. */
	static final int SHARED_MAX_SEGMENTS = 1;

	/** Receives below which the device says so; 0 for never. */
	static final int SHARED_LIMIT = 2;

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
