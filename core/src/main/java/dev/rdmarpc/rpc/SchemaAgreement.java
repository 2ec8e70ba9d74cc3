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

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.logging.PeerText;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.PendingCall;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;

/**
 * What a client knows of the methods at the other end of one channel: it asks about all
 * of its own before the channel is used, and again when there are more.
 *
 * <p>
 * Implementation notes. Confined to the loop's driver, except that any thread may ask
 * whether all is known and what contradicts a method. The list of contradictions is
 * replaced, never changed, and is {@code null} as long as there are none, so that a call
 * pays for one read. A contradiction is stored before the channel is handed out.
 */
final class SchemaAgreement implements PendingCall {

	private final RpcChannel channel;

	private final ClientMethods methods;

	private final long timeoutNanos;

	private final Runnable agreed;

	private volatile int asked;

	private volatile @Nullable List<Contradiction> contradictions;

	private volatile boolean done = true;

	private int requestId;

	private List<MethodDescriptor> question = List.of();

	/**
	 * Asks nothing yet.
	 * @param agreed run by the driver when everything is known that was to be known
	 */
	SchemaAgreement(RpcChannel channel, ClientMethods methods, long timeoutNanos, Runnable agreed) {
		this.channel = channel;
		this.methods = methods;
		this.timeoutNanos = timeoutNanos;
		this.agreed = agreed;
	}

	/** Whether the methods of all proxies are known, or cannot be asked about. */
	boolean isComplete() {
		return !this.channel.peerTellsSchemas() || this.asked >= this.methods.all().size();
	}

	/** Has it ask on if there are methods since it has asked last; tells whether so. */
	static boolean goesOn(@Nullable SchemaAgreement asked) {
		boolean more = asked != null && !asked.isComplete();
		if (asked != null && more) {
			asked.channel.loop().execute(asked::goOn);
		}
		return more;
	}

	/** Asks about what is not known, or says that all is; driver. */
	void goOn() {
		if (!this.done) {
			return;
		}
		if (isComplete()) {
			this.agreed.run();
			return;
		}
		List<MethodDescriptor> all = this.methods.all();
		this.question = all.subList(this.asked, Math.min(all.size(), this.asked + SchemaQuestion.MAX_METHODS));
		MessageSegments segments = new MessageSegments();
		try {
			SchemaQuestion.ask(this.question, segments);
			RequestTemplate template = new RequestTemplate(SchemaQuestion.METHOD_ID, Priority.HIGH.code(), 0);
			this.done = false;
			this.channel
				.prepareRequest(this, template, System.nanoTime() + this.timeoutNanos, this.timeoutNanos,
						RequestTemplate.NO_METADATA, segments)
				.submit();
		}
		catch (RuntimeException ex) {
			this.done = true;
			giveUp(String.valueOf(ex.getMessage()));
		}
		finally {
			segments.clear();
		}
	}

	@Override
	public void onStarted(int id) {
		this.requestId = id;
	}

	@Override
	public int requestId() {
		return this.requestId;
	}

	@Override
	public void onReply(IncomingMessage reply) {
		this.done = true;
		if (reply.status() != RpcStatus.OK.code()) {
			giveUp("it answers " + RpcStatus.ofCode(reply.status()));
			return;
		}
		try {
			SchemaQuestion.Answer answer = SchemaQuestion.read(reply.message(), this.question.size());
			answer.different().forEach(this::compare);
			int before = this.asked;
			this.asked = before + answer.answered();
		}
		catch (IllegalArgumentException ex) {
			giveUp(String.valueOf(ex.getMessage()));
			return;
		}
		goOn();
	}

	@Override
	public void onFailure(CallFailure failure, String detail) {
		this.done = true;
		if (failure != CallFailure.CONNECTION_LOST && failure != CallFailure.NOT_SENT) {
			giveUp(detail);
		}
	}

	private void giveUp(String why) {
		this.channel.close("the peer does not tell the schemas of its methods: " + why);
	}

	@Override
	public boolean isDone() {
		return this.done;
	}

	private void compare(SchemaQuestion.Difference different) {
		MethodDescriptor method = this.question.get(different.index());
		String contradiction = method.contradictionOf(different.schema());
		if (contradiction != null) {
			List<Contradiction> known = this.contradictions;
			List<Contradiction> more = (known != null) ? new ArrayList<>(known) : new ArrayList<>();
			more.add(new Contradiction(method,
					"it is " + PeerText.shown(MethodDescriptor.shown(method.schema())) + " at the client and "
							+ PeerText.shown(MethodDescriptor.shown(different.schema())) + " at the server: "
							+ PeerText.shown(contradiction)));
			this.contradictions = more;
		}
	}

	/**
	 * Refuses a call that the server would misunderstand.
	 * @throws RpcException with {@link RpcStatus#FAILED_PRECONDITION}
	 */
	void check(MethodDescriptor method) {
		List<Contradiction> known = this.contradictions;
		if (known != null) {
			for (Contradiction each : known) {
				if (each.method().hasSchemaOf(method)) {
					throw new RpcException(RpcStatus.FAILED_PRECONDITION, each.detail(), method.service(),
							method.name(), null);
				}
			}
		}
	}

	/**
	 * A method that the server understands in another way.
	 *
	 * @param method the method
	 * @param detail what contradicts what
	 */
	private record Contradiction(MethodDescriptor method, String detail) {

	}

}
