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
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An adapter that a device has opened. The devices of a process share its context, which
 * must stay open as long as one of them uses it, and be closed after the last where the
 * adapter has gone, for the kernel may wait for that. Thread-safe.
 */
final class HeldAdapter {

	private static final Logger logger = LoggerFactory.getLogger(HeldAdapter.class);

	/** How many devices use the context of a handle; guarded by itself. */
	private static final Map<Long, Integer> users = new HashMap<>();

	private final Adapter adapter;

	private final AdapterVerbs verbs;

	private final AdapterNode node;

	private volatile boolean removed;

	private HeldAdapter(Adapter adapter, AdapterVerbs verbs) {
		this.adapter = adapter;
		this.verbs = verbs;
		this.node = AdapterNode.of(Path.of("/"), adapter.name());
	}

	/** Opens an adapter, or keeps it open. */
	static HeldAdapter open(Adapter adapter, AdapterVerbs verbs) throws IOException {
		synchronized (users) {
			verbs.hold(adapter);
			users.merge(adapter.handle(), 1, Integer::sum);
		}
		SiwPlaceholder.keepFor(adapter);
		return new HeldAdapter(adapter, verbs);
	}

	/** The connection manager says that the adapter is being removed. */
	void removed() {
		this.removed = true;
	}

	/** Whether the adapter has gone. */
	boolean isGone() {
		return this.removed || this.node.isGone();
	}

	/** Nothing is open on the context any more that this device has opened. Once. */
	void close() {
		synchronized (users) {
			Integer left = users.computeIfPresent(this.adapter.handle(),
					(key, count) -> (count > 1) ? count - 1 : null);
			boolean last = left == null && isGone();
			if (last) {
				SiwPlaceholder.closeFor(this.adapter);
			}
			try {
				this.verbs.release(this.adapter, last);
			}
			catch (IOException ex) {
				logger.warn("{} was not released", this.adapter.name(), ex);
			}
		}
	}

}
