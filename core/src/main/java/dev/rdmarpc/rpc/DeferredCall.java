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

import java.util.concurrent.Future;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.transport.PendingCall;
import dev.rdmarpc.transport.RpcChannel;

/** A call for which no thread waits: it is sent now, or when there is a connection. */
interface DeferredCall extends PendingCall {

	MethodDescriptor method();

	CallOptions options();

	/** By which a channel is found, see {@link ChannelSource#keys}. */
	long key();

	/** When it is given up, or {@link Long#MAX_VALUE}. */
	long deadlineNanos();

	/** What is sent with the request. */
	byte[] metadata();

	/**
	 * Encodes what the call was made with.
	 * @param mostKeptBytes what may be kept for another time
	 */
	void encode(MessageSegments out, int mostKeptBytes);

	/** The call waits for a channel, which nobody else does with that future. */
	default void waitsWith(Future<?> wait) {
	}

	/** The call is about to be prepared and submitted on a channel. */
	void startsOn(RpcChannel open);

	/** The request was submitted; not the driver. */
	default void submitted() {
	}

	/** The call has failed before it was submitted. */
	void fail(RpcException failure);

	/** The call cannot even be begun for want of memory. Any thread. */
	void failLater();

}
