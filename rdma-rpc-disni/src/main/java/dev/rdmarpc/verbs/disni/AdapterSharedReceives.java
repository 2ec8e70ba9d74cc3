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
import java.util.function.Consumer;

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

	AdapterSharedReceives(AdapterDomain domain, int depth, int maxSegments, int number,
			Consumer<SharedReceives> whenClosed) throws IOException {
		super(domain, depth, maxSegments, number, whenClosed);
		this.queue = domain.verbs().createSharedReceiveQueue(domain.domain(), depth, Math.max(1, maxSegments));
		boolean complete = false;
		try {
			this.poster = ReceivePoster.prepare(this.queue, maxSegments, domain.attributes().iwarp());
			complete = true;
		}
		finally {
			if (!complete) {
				destroy(domain, this.queue);
			}
		}
	}

	private static void destroy(AdapterDomain domain, IbvQP queue) {
		try {
			domain.verbs().destroySharedReceiveQueue(queue);
		}
		catch (IOException ex) {
			logger.warn("Shared receive queue was not destroyed", ex);
		}
	}

	@Override
	DisniReceiveSource newSource() {
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
		destroy(domain(), this.queue);
		this.poster.free();
	}

	/** What one queue pair sees of it. */
	private final class Source implements DisniReceiveSource {

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
		public WorkStatus completed(CompletionReporter reporter, int slot, WorkStatus status, long bytes,
				int invalidatedKey) {
			lock().lock();
			try {
				if (!slots().isHandedOver(slot)) {
					return status;
				}
				WorkStatus outcome = slots().outcome(slot, status, domain().registered());
				slots().handOver(slot, false);
				reporter.ended(slots().id(slot), outcome, WorkOpcode.RECEIVE, bytes, invalidatedKey);
				slots().remove(slot);
				return outcome;
			}
			finally {
				lock().unlock();
			}
		}

		@Override
		public boolean isFlushed() {
			return true;
		}

		@Override
		public void close() {
			removeUser();
		}

	}

}
