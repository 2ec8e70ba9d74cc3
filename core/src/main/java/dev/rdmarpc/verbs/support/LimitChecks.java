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

package dev.rdmarpc.verbs.support;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.DeviceLimits;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.TlsOptions;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkRequest;

/**
 * What is asked of a device, held against its limits. Each method throws a
 * {@link VerbsException} that says what was expected: with
 * {@link VerbsError#INVALID_ARGUMENT} below one, with {@link VerbsError#LIMIT_EXCEEDED}
 * above the limit.
 */
public final class LimitChecks {

	private LimitChecks() {
	}

	/** Checks the capacity of a completion queue. */
	public static void checkCompletionQueue(DeviceLimits limits, int capacity) {
		checkRange("completion queue capacity", capacity, limits.maxCompletionQueueEntries());
	}

	/** Checks the size of a receive queue, shared or not. */
	public static void checkReceiveQueue(DeviceLimits limits, int depth, int maxSegments) {
		checkRange("receive queue depth", depth, limits.maxReceiveQueueDepth());
		checkRange("receive segments", maxSegments, limits.maxReceiveSegments());
	}

	/**
	 * Checks the size of a queue pair: of its send queue, and if it does not share
	 * receives, of its receive queue.
	 */
	public static void checkQueuePair(DeviceLimits limits, QueuePairOptions options) {
		checkRange("send queue depth", options.sendQueueDepth(), limits.maxSendQueueDepth());
		checkRange("send segments", options.maxSendSegments(), limits.maxSendSegments());
		if (options.sharedReceiveQueue() == null) {
			checkReceiveQueue(limits, options.receiveQueueDepth(), options.maxReceiveSegments());
		}
	}

	/** Checks how many Reads a connection is to have outstanding in either direction. */
	public static void checkReadDepths(DeviceLimits limits, ConnectOptions options) {
		int greatest = Math.max(options.readDepth(), options.responderResources());
		if (greatest > limits.maxReadDepth()) {
			throw new VerbsException(VerbsError.LIMIT_EXCEEDED,
					"read depth of " + greatest + " (expected: at most " + limits.maxReadDepth() + ")");
		}
	}

	/** Checks how many segments a work request names. */
	public static void checkSegments(WorkRequest request, int maxSegments) {
		if (request.segmentCount() > maxSegments) {
			throw new VerbsException(VerbsError.LIMIT_EXCEEDED, "work request with " + request.segmentCount()
					+ " segments (expected: at most " + maxSegments + ")");
		}
	}

	/** Refuses TLS, for devices that cannot protect connections with it. */
	public static void checkNoTls(VerbsDevice device, @Nullable TlsOptions tls) {
		if (tls != null) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT, "device " + device.name()
					+ " cannot protect connections with TLS (expected: a provider whose connections are streams of"
					+ " bytes, such as iwarp, or protection of the network itself, such as IPsec or MACsec)");
		}
	}

	private static void checkRange(String what, int value, int maximum) {
		if (value < 1) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT, what + " of " + value + " (expected: at least 1)");
		}
		if (value > maximum) {
			throw new VerbsException(VerbsError.LIMIT_EXCEEDED,
					what + " of " + value + " (expected: at most " + maximum + ")");
		}
	}

}
