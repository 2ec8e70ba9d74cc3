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

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A handler that notes what it is told, as text. */
class RecordingHandler implements ChannelHandler {

	final List<String> events = new ArrayList<>();

	final List<byte[]> messages = new ArrayList<>();

	@Override
	public void onOpen(RpcChannel channel) {
		this.events.add("open");
	}

	@Override
	public void onRequest(RpcChannel channel, IncomingMessage request) {
		ByteBuffer message = request.message();
		byte[] bytes = new byte[message.remaining()];
		message.get(bytes);
		this.messages.add(bytes);
		this.events.add("request " + request.requestId() + " of " + bytes.length);
	}

	@Override
	public void onUnreadableRequest(RpcChannel channel, int requestId, String detail) {
		this.events.add("unreadable " + requestId + ": " + detail);
	}

	@Override
	public void onCancel(RpcChannel channel, int requestId) {
		this.events.add("cancel " + requestId);
	}

	@Override
	public void onGoodbye(RpcChannel channel) {
		this.events.add("goodbye");
	}

	@Override
	public void onClosed(RpcChannel channel, String reason) {
		this.events.add("closed: " + reason);
	}

}
