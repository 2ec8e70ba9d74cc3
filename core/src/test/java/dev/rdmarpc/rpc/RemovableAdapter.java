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

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequestHandler;
import dev.rdmarpc.verbs.DeviceLimits;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.ProviderAvailability;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.VerbsProvider;
import dev.rdmarpc.verbs.shm.SharedMemoryOptions;
import dev.rdmarpc.verbs.shm.SharedMemoryProvider;

/**
 * A provider whose adapter can be taken out and put back: shared memory, whose devices
 * say that they have gone although they still work, as those of an adapter do whose
 * driver waits for its users.
 */
final class RemovableAdapter implements VerbsProvider {

	static final String NAME = "removable";

	private final SharedMemoryProvider provider;

	private final Set<Device> devices = ConcurrentHashMap.newKeySet();

	private final AtomicInteger refusals = new AtomicInteger();

	private final AtomicInteger attempts = new AtomicInteger();

	private volatile boolean present = true;

	RemovableAdapter(Path directory) {
		this.provider = new SharedMemoryProvider(SharedMemoryOptions.DEFAULTS.withDirectory(directory));
	}

	/** It is taken out, which those who use it have yet to notice. */
	void remove() {
		this.present = false;
		this.devices.forEach((device) -> device.gone = true);
	}

	/** Its devices fail, with all that is open on them. */
	void fail() {
		this.devices.forEach((device) -> device.inner.close());
	}

	/** It is put back. */
	void putBack() {
		this.present = true;
	}

	/** Whether nobody has it open any more, so that its removal is complete. */
	boolean isReleased() {
		return this.devices.isEmpty();
	}

	/** How often it was looked for. */
	int attempts() {
		return this.attempts.get();
	}

	/** Its next attempts to listen fail, as if its address were not there yet. */
	void refuseListening(int times) {
		this.refusals.set(times);
	}

	/** How many attempts are still to be refused. */
	int refusals() {
		return this.refusals.get();
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public int preference() {
		return this.provider.preference();
	}

	@Override
	public boolean reachesOtherHosts() {
		return false;
	}

	@Override
	public ProviderAvailability availability() {
		return this.provider.availability();
	}

	@Override
	public List<String> deviceNames() {
		return this.present ? List.of(NAME + "0") : List.of();
	}

	@Override
	public VerbsDevice openDevice(@Nullable String name) {
		this.attempts.incrementAndGet();
		if (!this.present) {
			throw new VerbsException(VerbsError.NO_SUCH_DEVICE, "it was taken out");
		}
		Device device = new Device(this.provider.openDevice(null));
		this.devices.add(device);
		return device;
	}

	private final class Device implements VerbsDevice {

		private final VerbsDevice inner;

		private volatile boolean gone;

		Device(VerbsDevice inner) {
			this.inner = inner;
		}

		@Override
		public String name() {
			return NAME + "0";
		}

		@Override
		public DeviceLimits limits() {
			return this.inner.limits();
		}

		@Override
		public long copiedBytes() {
			return this.inner.copiedBytes();
		}

		@Override
		public boolean isRunning() {
			return !this.gone && this.inner.isRunning();
		}

		@Override
		public boolean mayReach(InetSocketAddress remote) {
			return this.inner.mayReach(remote);
		}

		@Override
		public ProtectionDomain allocateProtectionDomain() {
			return this.inner.allocateProtectionDomain();
		}

		@Override
		public CompletionQueue createCompletionQueue(int capacity) {
			return this.inner.createCompletionQueue(capacity);
		}

		@Override
		public ConnectionListener listen(InetSocketAddress address, ListenOptions options,
				ConnectionRequestHandler handler) {
			if (RemovableAdapter.this.refusals.getAndUpdate((left) -> Math.max(0, left - 1)) > 0) {
				throw new VerbsException(VerbsError.ADDRESS_NOT_AVAILABLE, "it has no address yet");
			}
			return this.inner.listen(address, options, handler);
		}

		@Override
		public CompletableFuture<ConnectionInfo> connect(QueuePair queuePair, InetSocketAddress remote,
				ConnectOptions options) {
			return this.inner.connect(queuePair, remote, options);
		}

		@Override
		public void close() {
			this.inner.close();
			RemovableAdapter.this.devices.remove(this);
		}

	}

}
