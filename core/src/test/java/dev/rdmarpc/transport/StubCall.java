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

import org.jspecify.annotations.Nullable;

/** A call that remembers how it ended, and how often. */
class StubCall implements PendingCall {

	long deadline = Long.MAX_VALUE;

	volatile int ends;

	volatile @Nullable CallFailure failure;

	String detail = "";

	int status = -1;

	byte[] reply = {};

	Runnable onHeldBack = () -> {
	};

	@Nullable StreamReceiver streamReceiver;

	@Nullable StreamSender streamSender;

	private int requestId;

	@Override
	public @Nullable StreamReceiver streamReceiver() {
		return this.streamReceiver;
	}

	@Override
	public @Nullable StreamSender streamSender() {
		return this.streamSender;
	}

	@Override
	public void onStarted(int id) {
		this.requestId = id;
		if (this.streamReceiver != null) {
			this.streamReceiver.started(id);
		}
		if (this.streamSender != null) {
			this.streamSender.started(id);
		}
	}

	@Override
	public void onHeldBack(long nanos) {
		this.onHeldBack.run();
	}

	@Override
	public int requestId() {
		return this.requestId;
	}

	@Override
	public void onReply(IncomingMessage message) {
		ByteBuffer bytes = message.message();
		this.reply = new byte[bytes.remaining()];
		bytes.get(this.reply);
		this.status = message.status();
		end();
	}

	@Override
	public void onFailure(CallFailure why, String what) {
		this.failure = why;
		this.detail = what;
		end();
	}

	@SuppressWarnings("NonAtomicVolatileUpdate") // written by the driver only
	private void end() {
		this.ends++;
	}

	@Override
	public boolean isDone() {
		return this.ends > 0;
	}

}
