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

package dev.rdmarpc.boot.metrics;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;

/** The meters of the transport. Those of calls come from observations. */
public enum RdmaMeters implements DescribedMeter {

	MEMORY_REGISTERED("rdma.memory.registered", Meter.Type.GAUGE, "bytes", "Bytes of the pool's extents."),

	MEMORY_MAX("rdma.memory.max", Meter.Type.GAUGE, "bytes", "Bytes the pool may register at most."),

	MEMORY_ALLOCATED("rdma.memory.allocated", Meter.Type.GAUGE, "bytes",
			"Bytes of buffers in use, posted receives included."),

	MEMORY_CACHED("rdma.memory.cached", Meter.Type.GAUGE, "bytes",
			"Bytes of free buffers that threads keep for themselves."),

	MEMORY_USER("rdma.memory.user", Meter.Type.GAUGE, "bytes",
			"Bytes of the application's own memory that is registered."),

	MEMORY_STAGING("rdma.memory.staging", Meter.Type.GAUGE, "bytes",
			"Bytes in use outside the pool for partial frames and bytes that peers do not take, by the loop that "
					+ "is nearest to its limit."),

	MEMORY_STAGING_MAX("rdma.memory.staging.max", Meter.Type.GAUGE, "bytes",
			"Bytes that such a loop may use for partial frames and bytes that peers do not take."),

	MEMORY_EXTENTS("rdma.memory.extents", Meter.Type.GAUGE, "extents", "Extents of the pool."),

	MEMORY_EXTENTS_ADDED("rdma.memory.extents.added", Meter.Type.COUNTER, "extents",
			"Extents registered; steady growth means that the pool grows and shrinks in turn."),

	MEMORY_EXTENTS_REMOVED("rdma.memory.extents.removed", Meter.Type.COUNTER, "extents", "Extents released."),

	MEMORY_REGISTRATION_HITS("rdma.memory.registration.hits", Meter.Type.COUNTER, "registrations",
			"Registrations of the application's own memory found in the cache."),

	MEMORY_BUFFERS("rdma.memory.buffers", Meter.Type.GAUGE, "buffers", "Buffers in use, posted receives included."),

	MEMORY_ALLOCATIONS("rdma.memory.allocations", Meter.Type.COUNTER, "allocations", "Buffers allocated."),

	MEMORY_WAITS("rdma.memory.waits", Meter.Type.COUNTER, "allocations",
			"Allocations that had to wait for memory to be released."),

	MEMORY_FAILURES("rdma.memory.failures", Meter.Type.COUNTER, "allocations",
			"Allocations for which there was no memory."),

	MEMORY_LEAKS("rdma.memory.leaks", Meter.Type.COUNTER, "buffers", "Buffers lost without being released."),

	RAILS_UP("rdma.rails.up", Meter.Type.GAUGE, "state",
			"1 while the device of the rail runs, 0 while it has gone and is looked for.") {

		@Override
		public KeyName[] getKeyNames() {
			return RailKeyNames.values();
		}

	},

	QUEUE_PAIRS_OPEN("rdma.queue.pairs.open", Meter.Type.GAUGE, "queue pairs", "Open queue pairs.") {

		@Override
		public KeyName[] getKeyNames() {
			return RailKeyNames.values();
		}

	},

	QUEUE_PAIRS_MAX("rdma.queue.pairs.max", Meter.Type.GAUGE, "queue pairs",
			"Queue pairs the device can have at most.") {

		@Override
		public KeyName[] getKeyNames() {
			return RailKeyNames.values();
		}

	},

	QUEUE_PAIRS_CALLS("rdma.queue.pairs.calls", Meter.Type.GAUGE, "calls",
			"Calls waiting for their reply on all queue pairs."),

	RECEIVES_POSTED("rdma.receives.posted", Meter.Type.GAUGE, "receives", "Receives in the shared receive queues."),

	RECEIVES_PROMISED("rdma.receives.promised", Meter.Type.GAUGE, "receives",
			"Receives promised to peers as credits, and for handshakes."),

	RECEIVES_MEMORY("rdma.receives.memory", Meter.Type.GAUGE, "bytes",
			"Memory of receives that are posted or kept ready to be."),

	RECEIVES_REFILLS("rdma.receives.refills", Meter.Type.COUNTER, "refills",
			"Calls that posted receives; Sends received per call show how well batching works."),

	RECEIVES_REPLACEMENTS("rdma.receives.replacements", Meter.Type.COUNTER, "receives",
			"Receives replaced because their message kept the buffer."),

	FRAMES("rdma.frames", Meter.Type.COUNTER, "frames", "Frames sent and received.") {

		@Override
		public KeyName[] getKeyNames() {
			return DirectionKeyNames.values();
		}

	},

	FRAMES_BUNDLED("rdma.frames.bundled", Meter.Type.COUNTER, "frames",
			"Frames sent together with others in one Send."),

	FRAMES_CREDITS("rdma.frames.credits", Meter.Type.COUNTER, "frames", "Frames sent that carry nothing but credits."),

	COMPLETION_ENTRIES("rdma.completion.entries", Meter.Type.COUNTER, "completions", "Work completions taken."),

	COMPLETION_POLLS("rdma.completion.polls", Meter.Type.COUNTER, "polls",
			"Polls that found completions; entries per poll show how well batching works."),

	COMPLETION_POLLS_EMPTY("rdma.completion.polls.empty", Meter.Type.COUNTER, "polls", "Polls that found nothing."),

	COMPLETION_SPINS_PAID("rdma.completion.spins.paid", Meter.Type.COUNTER, "spins",
			"Times that what was waited for came while a loop polled for it."),

	COMPLETION_YIELDS("rdma.completion.yields", Meter.Type.COUNTER, "yields",
			"Times that another thread ran while a loop polled in vain and offered its processor: processors are scarce."),

	COMPLETION_SPIN_BUDGET("rdma.completion.spin.budget", Meter.Type.GAUGE, "seconds",
			"How long the loop that polls longest does so in vain before it sleeps."),

	COMPLETION_WAKE_UPS("rdma.completion.wakeups", Meter.Type.COUNTER, "wake-ups",
			"Waits that ended before their time, by an event or by another thread."),

	COMPLETION_WAITS("rdma.completion.waits", Meter.Type.TIMER, "seconds",
			"Waits for an event, after polling in vain, and the time spent in them."),

	READ_SINKS("rdma.read.sinks", Meter.Type.COUNTER, "registrations",
			"Registrations made for single Reads by iWARP adapters; each costs a system call when it is made and one when it ends."),

	MESSAGES_QUEUED("rdma.messages.queued", Meter.Type.COUNTER, "messages",
			"Messages that could not be posted at once, for lack of credits or of room in the send queue.") {

		@Override
		public KeyName[] getKeyNames() {
			return PriorityKeyNames.values();
		}

	},

	MESSAGES_WAITS("rdma.messages.waits", Meter.Type.TIMER, "seconds",
			"Waits of such messages until they were posted.") {

		@Override
		public KeyName[] getKeyNames() {
			return PriorityKeyNames.values();
		}

	},

	MESSAGES_OVERTAKEN("rdma.messages.overtaken", Meter.Type.COUNTER, "times",
			"Times that more urgent messages went before others that waited to be sent or to be read.") {

		@Override
		public KeyName[] getKeyNames() {
			return PriorityKeyNames.values();
		}

	},

	READ_SLICES("rdma.read.slices", Meter.Type.COUNTER, "reads",
			"Pieces in which large messages were read from peers.") {

		@Override
		public KeyName[] getKeyNames() {
			return PriorityKeyNames.values();
		}

	},

	BYTES("rdma.bytes", Meter.Type.COUNTER, "bytes",
			"Bytes of frames sent and received, and of messages read from peers.") {

		@Override
		public KeyName[] getKeyNames() {
			return DirectionKeyNames.values();
		}

	};

	private final String name;

	private final Meter.Type type;

	private final String unit;

	private final String description;

	RdmaMeters(String name, Meter.Type type, String unit, String description) {
		this.name = name;
		this.type = type;
		this.unit = unit;
		this.description = description;
	}

	@Override
	public String getName() {
		return this.name;
	}

	@Override
	public Meter.Type getType() {
		return this.type;
	}

	@Override
	public String description() {
		return this.description;
	}

	@Override
	public String getBaseUnit() {
		return this.unit;
	}

	/** Keys of {@link #RAILS_UP}, {@link #QUEUE_PAIRS_OPEN}, {@link #QUEUE_PAIRS_MAX}. */
	public enum RailKeyNames implements KeyName {

		/** The provider, of the queue pairs: iwarp, disni, shm, …. */
		RAIL;

		@Override
		public String asString() {
			return "rail";
		}

	}

	/** Keys of meters of what is ordered by priority. */
	public enum PriorityKeyNames implements KeyName {

		/** {@code low}, {@code normal} or {@code high}. */
		PRIORITY;

		@Override
		public String asString() {
			return "priority";
		}

	}

	/** Keys of {@link #BYTES} and {@link #FRAMES}. */
	public enum DirectionKeyNames implements KeyName {

		/** {@code sent}, {@code received} or {@code read}. */
		DIRECTION;

		@Override
		public String asString() {
			return "direction";
		}

	}

}
