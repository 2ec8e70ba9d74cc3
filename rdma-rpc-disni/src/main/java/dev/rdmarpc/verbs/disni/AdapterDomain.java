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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntPredicate;

import com.ibm.disni.util.MemoryUtils;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.SVCRegMr;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.support.Registration;

/**
 * The adapter's side of a protection domain: what is registered in it, and the adapter
 * itself for whatever receives or is registered there. Thread-safe.
 */
final class AdapterDomain {

	private static final Logger logger = LoggerFactory.getLogger(AdapterDomain.class);

	private final AdapterVerbs verbs;

	private final AdapterAttributes attributes;

	private final IbvPd domain;

	private final Runnable delivery;

	private final LongAdder readSinks;

	private final Set<DisniMemoryRegion> regions = ConcurrentHashMap.newKeySet();

	private final IntPredicate registered = this::isRegistered;

	/**
	 * Allocates a domain.
	 * @param delivery returns when everything posted before is the adapter's
	 * @param readSinks counts registrations for single Reads
	 */
	AdapterDomain(AdapterVerbs verbs, Adapter adapter, Runnable delivery, LongAdder readSinks) throws IOException {
		this.verbs = verbs;
		this.attributes = adapter.attributes();
		this.domain = adapter.context().allocPd();
		this.delivery = delivery;
		this.readSinks = readSinks;
	}

	AdapterVerbs verbs() {
		return this.verbs;
	}

	AdapterAttributes attributes() {
		return this.attributes;
	}

	IbvPd domain() {
		return this.domain;
	}

	/** Registers memory as a region. */
	DisniMemoryRegion register(Registration asked) throws IOException {
		int flags = asked.localWrite() ? IbvMr.IBV_ACCESS_LOCAL_WRITE : 0;
		flags |= asked.remoteWrite() ? IbvMr.IBV_ACCESS_REMOTE_WRITE : 0;
		flags |= asked.remoteRead() ? IbvMr.IBV_ACCESS_REMOTE_READ : 0;
		IbvMr registration = register(MemoryUtils.getAddress(asked.memory()), asked.lengthBytes(), flags);
		boolean complete = false;
		try {
			DisniMemoryRegion region = new DisniMemoryRegion(this, asked.memory(), registration, asked.localWrite());
			this.regions.add(region);
			complete = true;
			return region;
		}
		finally {
			if (!complete) {
				DisniMemoryRegion.deregister(registration);
			}
		}
	}

	private IbvMr register(long address, int lengthBytes, int flags) throws IOException {
		SVCRegMr call = RdmaVerbs.open().regMr(this.domain, address, lengthBytes, flags);
		try {
			return call.execute().getMr();
		}
		finally {
			call.free();
		}
	}

	/** Registers part of a region for a Read that the peer fills. */
	IbvMr registerReadSink(long address, int lengthBytes) throws IOException {
		IbvMr registration = register(address, lengthBytes,
				IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE);
		this.readSinks.increment();
		return registration;
	}

	/**
	 * Whether a local key is that of one of its regions; made once, for it is handed out
	 * per receive.
	 */
	IntPredicate registered() {
		return this.registered;
	}

	private boolean isRegistered(int localKey) {
		return this.regions.stream().anyMatch((region) -> region.isValid() && region.localKey() == localKey);
	}

	/** Returns when everything posted before is the adapter's; from any thread. */
	void deliverBatches() {
		this.delivery.run();
	}

	void removed(DisniMemoryRegion region) {
		this.regions.remove(region);
	}

	/** Closes the regions and deallocates the domain; nothing else uses it any more. */
	void close() {
		new ArrayList<>(this.regions).forEach(DisniMemoryRegion::close);
		try {
			RdmaVerbs.open().deallocPd(this.domain);
		}
		catch (IOException ex) {
			logger.warn("Protection domain was not deallocated", ex);
		}
	}

}
