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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;

/** Both ends of a stream's user, which note what they are told, as text. */
class RecordingStream implements StreamReceiver.Listener, StreamSender.Listener {

	final List<String> events = new ArrayList<>();

	/** Thrown by whatever is told next. */
	@Nullable RuntimeException failure;

	private void note(String event) {
		this.events.add(event);
		RuntimeException thrown = this.failure;
		this.failure = null;
		if (thrown != null) {
			throw thrown;
		}
	}

	@Override
	public void onMessage(RegisteredBuffer memory, ByteBuffer message) {
		int bytes = message.remaining();
		memory.release();
		note("message of " + bytes);
	}

	@Override
	public void onMetadata(ByteBuffer metadata) {
		note("metadata of " + metadata.remaining());
	}

	@Override
	public void onEnd() {
		note("end");
	}

	@Override
	public void onLost(CallFailure why, String detail) {
		note("lost: " + why);
	}

	@Override
	public void onWanted(int messages) {
		note("wanted " + messages);
	}

	@Override
	public void onSent(int messageBytes) {
		note("sent " + messageBytes);
	}

	@Override
	public void onStopped() {
		note("stopped");
	}

}
