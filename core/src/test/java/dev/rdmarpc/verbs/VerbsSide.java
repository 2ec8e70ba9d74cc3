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

package dev.rdmarpc.verbs;

import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * What one process would hold in a test: a device, a protection domain and what is made
 * of them.
 */
final class VerbsSide {

	private final VerbsFixture fixture;

	private final String name;

	private final VerbsDevice device;

	private final ProtectionDomain domain;

	/** Of memory that the provider prefers, if there is any; opened when it is needed. */
	private @Nullable MemorySource source;

	private boolean sourceOpened;

	private final AtomicInteger endpointCount = new AtomicInteger();

	VerbsSide(VerbsFixture fixture, String name, VerbsDevice device) {
		this.fixture = fixture;
		this.name = name;
		this.device = device;
		this.domain = device.allocateProtectionDomain();
	}

	VerbsDevice device() {
		return this.device;
	}

	ProtectionDomain domain() {
		return this.domain;
	}

	DeviceLimits limits() {
		return this.device.limits();
	}

	CompletionCollector collector(int capacity) {
		return this.fixture
			.track(new CompletionCollector(this.device.createCompletionQueue(capacity), this.fixture.violations()));
	}

	VerbsEndpoint endpoint() {
		return endpoint(EndpointOptions.DEFAULTS);
	}

	VerbsEndpoint endpoint(EndpointOptions options) {
		return endpoint(this.domain, options);
	}

	VerbsEndpoint endpoint(ProtectionDomain endpointDomain, EndpointOptions options) {
		CompletionCollector collector = options.collector();
		if (collector == null) {
			collector = collector(options.sendDepth() + options.receiveDepth());
		}
		int number = this.endpointCount.incrementAndGet();
		VerbsEndpoint endpoint = new VerbsEndpoint(this, this.name + "-" + number, number, endpointDomain, collector,
				options);
		return this.fixture.track(endpoint);
	}

	SharedReceives sharedReceives(int depth) {
		return this.fixture.track(new SharedReceives(this.domain.createSharedReceiveQueue(depth, 2),
				this.endpointCount.incrementAndGet(), 2));
	}

	/** Memory for sending from and for receiving into, closed to peers. */
	GuardedMemory memory(int length) {
		return memory(length, AccessFlag.LOCAL_WRITE);
	}

	/** Memory with exactly these permissions. */
	GuardedMemory memory(int length, AccessFlag... access) {
		return memoryIn(this.domain, length, access);
	}

	/** Memory that is lent to the peer of one endpoint. */
	GuardedMemory lent(VerbsEndpoint endpoint, int length, AccessFlag... access) {
		return this.fixture
			.track(new GuardedMemory(source(), (memory, origin) -> lend(endpoint, memory, origin, Set.of(access)),
					length, this.fixture.random().nextInt(64), this.fixture.random().nextLong()));
	}

	private synchronized @Nullable MemorySource source() {
		if (!this.sourceOpened) {
			this.source = this.fixture.openMemorySource();
			this.sourceOpened = true;
		}
		return this.source;
	}

	/** Of provided memory, a window of a region of its own. */
	private MemoryRegion lend(VerbsEndpoint endpoint, ByteBuffer memory, @Nullable MemoryOrigin origin,
			Set<AccessFlag> access) {
		if (origin == null) {
			return this.domain.registerMemory(memory, access, endpoint.queuePair());
		}
		int offset = memory.position();
		int length = memory.remaining();
		try (MemoryRegion whole = this.domain.registerProvided(memory.clear(), Set.of(), origin)) {
			return this.domain.registerWindow(whole, offset, length, access, endpoint.queuePair());
		}
	}

	GuardedMemory memoryIn(ProtectionDomain memoryDomain, int length, AccessFlag... access) {
		return this.fixture.track(new GuardedMemory(source(), memoryDomain, length, this.fixture.random().nextInt(64),
				this.fixture.random().nextLong(), Set.of(access)));
	}

}
