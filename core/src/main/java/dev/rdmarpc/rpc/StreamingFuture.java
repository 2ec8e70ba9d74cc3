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

import java.util.concurrent.Flow;

import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamSender;

/** The future of a call whose request messages follow. It is never made again. */
final class StreamingFuture extends CallFuture {

	private final FollowingMessages following;

	StreamingFuture(CallTerms terms, MethodDescriptor method, Object content, Flow.Publisher<?> messages,
			long deadlineNanos) {
		super(terms, method, content, deadlineNanos);
		this.following = new FollowingMessages(terms.calls().loops(), method, messages, this::completeExceptionally);
	}

	@Override
	public void startsOn(RpcChannel open) {
		this.following.startsOn(open);
		super.startsOn(open);
	}

	@Override
	public void submitted() {
		this.following.begin();
	}

	@Override
	public StreamSender streamSender() {
		return this.following.sender();
	}

	@Override
	public void onStarted(int id) {
		super.onStarted(id);
		this.following.sender().started(id);
	}

	@Override
	public void onReply(IncomingMessage arrived) {
		this.following.stop();
		super.onReply(arrived);
	}

	@Override
	public void onFailure(CallFailure why, String detail) {
		this.following.stop();
		super.onFailure(why, detail);
	}

	@Override
	public void onNotSent(OutgoingMessage request, String detail) {
		onFailure(CallFailure.NOT_SENT, detail);
	}

	@Override
	boolean mayBeRepeated() {
		return false;
	}

}
