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

import java.io.IOException;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.SVCReqNotify;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A completion queue of an adapter with its channel, and the calls on them, prepared.
 */
final class AdapterCompletionQueue {

	private static final Logger logger = LoggerFactory.getLogger(AdapterCompletionQueue.class);

	private final AdapterVerbs verbs;

	private final IbvCompChannel channel;

	private final IbvCQ queue;

	private final CompletionBatch batch;

	private final boolean solicitedEvents;

	private final SVCReqNotify requestAny;

	private final SVCReqNotify requestSolicited;

	private AdapterCompletionQueue(AdapterVerbs verbs, IbvCompChannel channel, IbvCQ queue, CompletionBatch batch,
			boolean solicitedEvents) throws IOException {
		this.solicitedEvents = solicitedEvents;
		this.verbs = verbs;
		this.channel = channel;
		this.queue = queue;
		this.batch = batch;
		this.requestAny = queue.reqNotification(false);
		this.requestSolicited = queue.reqNotification(true);
	}

	/** Creates a queue with a channel of its own. */
	static AdapterCompletionQueue create(AdapterVerbs verbs, Adapter adapter, int entries) throws IOException {
		IbvContext context = adapter.context();
		IbvCompChannel channel = context.createCompChannel();
		IbvCQ queue = null;
		boolean complete = false;
		try {
			queue = context.createCQ(channel, entries, 0);
			AdapterCompletionQueue created = new AdapterCompletionQueue(verbs, channel, queue,
					CompletionBatch.prepare(queue), adapter.attributes().solicitedEvents());
			complete = true;
			return created;
		}
		finally {
			if (!complete) {
				destroy(queue, channel);
			}
		}
	}

	private static void destroy(@Nullable IbvCQ queue, IbvCompChannel channel) {
		try {
			if (queue != null) {
				queue.destroyCQ();
			}
		}
		catch (IOException ex) {
			logger.warn("Completion queue was not destroyed", ex);
		}
		try {
			RdmaVerbs.open().destroyCompChannel(channel);
		}
		catch (IOException ex) {
			logger.warn("Completion channel was not destroyed", ex);
		}
	}

	IbvCQ queue() {
		return this.queue;
	}

	CompletionBatch batch() {
		return this.batch;
	}

	/**
	 * Asks for one notification; of any completion where the adapter cannot be choosy.
	 */
	void request(boolean solicitedOnly) throws IOException {
		((solicitedOnly && this.solicitedEvents) ? this.requestSolicited : this.requestAny).execute();
	}

	/** See {@link AdapterVerbs#awaitCompletion}. */
	boolean await(long timeoutNanos) throws IOException {
		return this.verbs.awaitCompletion(this.channel, this.queue, timeoutNanos);
	}

	void wake() throws IOException {
		this.verbs.wake(this.channel);
	}

	/** Destroys queue and channel; nobody uses them any more. */
	void close() {
		this.batch.free();
		this.requestAny.free();
		this.requestSolicited.free();
		destroy(this.queue, this.channel);
	}

}
