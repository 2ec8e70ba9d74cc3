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

import com.ibm.disni.verbs.IbvQP;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;

/** A shared receive queue of the adapter. */
final class AdapterSharedReceives extends SharedReceives {

	private static final Logger logger = LoggerFactory.getLogger(AdapterSharedReceives.class);

	private final IbvQP queue;

	private final ReceivePoster poster;

	private AdapterSharedReceives(DisniProtectionDomain domain, int depth, int maxSegments, IbvQP queue,
			ReceivePoster poster) {
		super(domain, depth, maxSegments);
		this.queue = queue;
		this.poster = poster;
	}

	static AdapterSharedReceives create(DisniProtectionDomain domain, int depth, int maxSegments) throws IOException {
		IbvQP queue = domain.device()
			.verbs()
			.createSharedReceiveQueue(domain.adapterDomain(), depth, Math.max(1, maxSegments));
		return new AdapterSharedReceives(domain, depth, maxSegments, queue,
				ReceivePoster.prepare(queue, maxSegments, domain.device().attributes().iwarp()));
	}

	@Override
	ReceiveSource newSource(DisniCompletionQueue completionQueue) {
		return new Source();
	}

	@Override
	void posted(int slot) throws IOException {
		try {
			this.poster.post(WorkId.shared(number(), slot), segments());
			slots().handOver(slot, true);
		}
		catch (IOException ex) {
			slots().remove(slot);
			throw ex;
		}
	}

	@Override
	void destroy() {
		try {
			domain().device().verbs().destroySharedReceiveQueue(this.queue);
		}
		catch (IOException ex) {
			logger.warn("Shared receive queue was not destroyed", ex);
		}
		this.poster.free();
	}

	/** What one queue pair sees of it. */
	private final class Source implements ReceiveSource {

		@Override
		public @Nullable IbvQP adapterQueue() {
			return AdapterSharedReceives.this.queue;
		}

		@Override
		public int depth() {
			return 0;
		}

		@Override
		public int maxSegments() {
			return 0;
		}

		@Override
		public void open(IbvQP adapterQueuePair, int generation) {
			// the adapter has them already
		}

		@Override
		public void abandoned() {
			// they are for others
		}

		@Override
		public WorkStatus completed(DisniQueuePair queuePair, int slot, WorkStatus status, long bytes,
				int invalidatedKey) {
			long id;
			WorkStatus outcome;
			lock().lock();
			try {
				if (!slots().isHandedOver(slot)) {
					return status;
				}
				id = slots().id(slot);
				outcome = slots().outcome(slot, status, domain().registered());
				slots().remove(slot);
			}
			finally {
				lock().unlock();
			}
			queuePair.completionQueue().report(id, outcome, WorkOpcode.RECEIVE, bytes, invalidatedKey, queuePair);
			return outcome;
		}

		@Override
		public boolean isFlushed() {
			return true;
		}

		@Override
		public boolean hasEnded() {
			return false;
		}

		@Override
		public void reportEnded(DisniQueuePair queuePair) {
			// nothing ends without the adapter
		}

		@Override
		public void close(DisniQueuePair queuePair) {
			removeUser();
		}

	}

}
