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
import java.util.HashMap;
import java.util.Map;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A completion queue of the kernel's siw that nobody uses, kept until the adapter has
 * gone or the process ends, so that the memory of no other queue begins where it must
 * not.
 *
 * <p>
 * Implementation notes. The kernel says at which offset of the device's file the memory
 * of a new queue is to be mapped: at the first that is free. The library of siw takes the
 * offset 0x90000 for "none" (SIW_INVAL_UOBJ_KEY of siw-abi.h, from times when offsets
 * were given out differently), destroys what was created, and reports a failure without a
 * reason. Trying again brings the same offset. So the first queue of a process, a
 * completion queue of 1 MiB, covers that place: it begins before it, usually at 0, and
 * ends behind it, and nothing else can begin there.
 *
 * <p>
 * Guarded by the class.
 */
final class SiwPlaceholder {

	private static final Logger logger = LoggerFactory.getLogger(SiwPlaceholder.class);

	/** Of 32 bytes each. */
	private static final int ENTRIES = 1 << 15;

	private static final Map<Long, SiwPlaceholder> kept = new HashMap<>();

	private final IbvCompChannel channel;

	private final IbvCQ queue;

	private SiwPlaceholder(IbvCompChannel channel, IbvCQ queue) {
		this.channel = channel;
		this.queue = queue;
	}

	/** Sees to it that there is one for this adapter, if the adapter needs it. */
	static synchronized void keepFor(Adapter adapter) {
		if (!adapter.attributes().siw() || kept.containsKey(adapter.handle())) {
			return;
		}
		try {
			IbvCompChannel channel = adapter.context().createCompChannel();
			IbvCQ queue = adapter.context().createCQ(channel, ENTRIES, 0);
			SiwPlaceholder placeholder = new SiwPlaceholder(channel, queue);
			kept.put(adapter.handle(), placeholder);
			logger.debug("Keeping {}", placeholder);
		}
		catch (IOException ex) {
			logger.warn("{} may fail to create queues for no reason", adapter.name(), ex);
		}
	}

	/** The adapter has gone, and nothing else is open on it. */
	static synchronized void closeFor(Adapter adapter) {
		SiwPlaceholder placeholder = kept.remove(adapter.handle());
		if (placeholder == null) {
			return;
		}
		try {
			placeholder.queue.destroyCQ();
			placeholder.channel.destroyCompChannel();
		}
		catch (IOException ex) {
			logger.debug("{} was not closed", placeholder, ex);
		}
	}

	@Override
	public String toString() {
		return this.queue + " on " + this.channel;
	}

}
