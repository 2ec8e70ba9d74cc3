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
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import com.ibm.disni.verbs.IbvQP;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * A shared receive queue for adapters that have none: each receive is lent to the queue
 * pair whose peer was promised it. What a queue pair has not used when it ends goes back
 * to the others, at once: the next queue pair may be promised it, and has nothing else.
 *
 * <p>
 * As long as nobody says what the peer of a queue pair was promised
 * ({@link dev.rdmarpc.verbs.QueuePair#allowReceives}) the queue pair is lent an equal
 * share.
 */
final class EmulatedSharedReceives extends SharedReceives {

	private static final Logger logger = LoggerFactory.getLogger(EmulatedSharedReceives.class);

	/** The most that one queue pair is lent. */
	private static final int MOST_LENT = 1024;

	private final int depth;

	private final @Nullable Source[] borrowers;

	private final List<Source> sources = new ArrayList<>();

	EmulatedSharedReceives(AdapterDomain domain, int depth, int maxSegments, int number,
			Consumer<SharedReceives> whenClosed) {
		super(domain, depth, maxSegments, number, whenClosed);
		this.depth = depth;
		this.borrowers = new @Nullable Source[depth];
	}

	@Override
	DisniReceiveSource newSource() {
		return new Source();
	}

	@Override
	void posted(int slot) {
		lend();
	}

	/** Lends what is free to those who want it, in turn; the caller holds the lock. */
	private void lend() {
		int slot = slots().first();
		boolean wanted = true;
		while (wanted && slot != ReceiveSlots.NONE) {
			wanted = false;
			for (Source source : this.sources) {
				while (slot != ReceiveSlots.NONE && slots().isHandedOver(slot)) {
					slot = slots().next(slot);
				}
				if (slot != ReceiveSlots.NONE && source.wantsMore()) {
					source.lend(slot);
					wanted = true;
				}
			}
		}
	}

	@Override
	void destroy() {
		this.sources.clear();
	}

	/** What one queue pair is lent. */
	private final class Source implements DisniReceiveSource {

		private @Nullable ReceivePoster poster;

		private int generation;

		private int lent;

		private long allowed = -1;

		@Override
		public int depth() {
			return Math.min(EmulatedSharedReceives.this.depth, MOST_LENT);
		}

		@Override
		public int maxSegments() {
			return EmulatedSharedReceives.this.maxSegments();
		}

		boolean wantsMore() {
			long share = (this.allowed >= 0) ? this.allowed
					: Math.max(1, EmulatedSharedReceives.this.depth / Math.max(1, sources().size()));
			return this.poster != null && this.lent < Math.min(share, depth());
		}

		private List<Source> sources() {
			return EmulatedSharedReceives.this.sources;
		}

		void lend(int slot) {
			ReceivePoster to = this.poster;
			if (to == null) {
				return;
			}
			try {
				slots().copySegments(slot, segments());
				to.post(WorkId.receive(this.generation, slot), segments());
				slots().handOver(slot, true);
				EmulatedSharedReceives.this.borrowers[slot] = this;
				this.lent++;
			}
			catch (IOException ex) {
				logger.debug("Queue pair takes no more receives", ex);
				to.free();
				this.poster = null;
			}
		}

		@Override
		public void open(IbvQP adapterQueuePair, int newGeneration) throws IOException {
			lock().lock();
			try {
				this.generation = newGeneration;
				this.poster = ReceivePoster.prepare(adapterQueuePair, maxSegments(), domain().attributes().iwarp());
				sources().add(this);
				EmulatedSharedReceives.this.lend();
			}
			finally {
				lock().unlock();
			}
		}

		@Override
		public void abandoned() {
			lock().lock();
			try {
				sources().remove(this);
				for (int slot = slots().first(); slot != ReceiveSlots.NONE; slot = slots().next(slot)) {
					if (EmulatedSharedReceives.this.borrowers[slot] == this) {
						giveBack(slot);
					}
				}
				if (this.poster != null) {
					this.poster.free();
					this.poster = null;
				}
				EmulatedSharedReceives.this.lend();
			}
			finally {
				lock().unlock();
			}
		}

		@Override
		public boolean isBorrowed() {
			return true;
		}

		/** What it was lent comes back; it gets nothing new. */
		@Override
		public void failed() {
			lock().lock();
			try {
				if (sources().remove(this)) {
					EmulatedSharedReceives.this.lend();
				}
			}
			finally {
				lock().unlock();
			}
		}

		private void giveBack(int slot) {
			EmulatedSharedReceives.this.borrowers[slot] = null;
			slots().handOver(slot, false);
			this.lent--;
		}

		@Override
		public void allow(int count) {
			lock().lock();
			try {
				this.allowed = Math.max(0, Math.max(0, this.allowed) + count);
				EmulatedSharedReceives.this.lend();
			}
			finally {
				lock().unlock();
			}
		}

		@Override
		public WorkStatus completed(CompletionReporter reporter, int slot, WorkStatus status, long bytes,
				int invalidatedKey) {
			lock().lock();
			try {
				if (EmulatedSharedReceives.this.borrowers[slot] != this) {
					return status;
				}
				giveBack(slot);
				if (status == WorkStatus.FLUSHED) {
					sources().remove(this);
					EmulatedSharedReceives.this.lend();
					return status;
				}
				WorkStatus outcome = slots().outcome(slot, status, domain().registered());
				reporter.ended(slots().id(slot), outcome, WorkOpcode.RECEIVE, bytes, invalidatedKey);
				slots().remove(slot);
				this.allowed = (this.allowed > 0) ? this.allowed - 1 : this.allowed;
				return outcome;
			}
			finally {
				lock().unlock();
			}
		}

		@Override
		public boolean isFlushed() {
			lock().lock();
			try {
				return this.lent == 0;
			}
			finally {
				lock().unlock();
			}
		}

		@Override
		public void close() {
			removeUser();
		}

	}

}
