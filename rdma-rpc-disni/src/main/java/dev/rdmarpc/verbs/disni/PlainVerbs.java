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
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.impl.NatObject;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the provider needs, by DiSNI alone and a {@code libdisni} that users built
 * themselves. Adapters are those that have an IPv4 address; nothing tells what they can
 * do, so limits are what every adapter can.
 */
final class PlainVerbs implements AdapterVerbs {

	private static final Logger logger = LoggerFactory.getLogger(PlainVerbs.class);

	/** DiSNI's library creates queue pairs with so many. */
	private static final int SEGMENTS = 4;

	private static final int QUEUE_PAIRS = 1 << 16;

	private static final int QUEUE_DEPTH = 4096;

	private static final int COMPLETIONS = 1 << 15;

	private static final int READS = 16;

	private static final long MESSAGE_BYTES = 8 << 20;

	/** A sleeper cannot be woken, so it looks every now and then. */
	private static final long SLICE_MILLIS = 5;

	/** Adapters whose names begin so speak iWARP. */
	private static final List<String> IWARP = List.of("siw", "iwp", "cxgb", "irdma", "i40iw", "nes");

	@Override
	public List<Adapter> adapters() throws IOException {
		Map<Long, Adapter> adapters = new LinkedHashMap<>();
		RdmaEventChannel channel = RdmaCm.open().createEventChannel();
		try {
			for (NetworkInterface network : NetworkInterface.networkInterfaces().toList()) {
				for (InetAddress address : network.inetAddresses().toList()) {
					if (address instanceof Inet4Address && !address.isLoopbackAddress()) {
						find(channel, address, adapters);
					}
				}
			}
		}
		finally {
			channel.destroyEventChannel();
		}
		return new ArrayList<>(adapters.values());
	}

	private static void find(RdmaEventChannel channel, InetAddress address, Map<Long, Adapter> adapters)
			throws IOException {
		RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
		try {
			id.bindAddr(new InetSocketAddress(address, 0));
			IbvContext context = id.getVerbs();
			if (context != null) {
				long handle = ((NatObject) context).getObjId();
				String name = nameOf(context);
				adapters.putIfAbsent(handle, new Adapter(name, handle, context, attributes(name)));
			}
		}
		catch (IOException ex) {
			logger.debug("No adapter has {}", address, ex);
		}
		finally {
			id.destroyId();
		}
	}

	/** The kernel's name of the adapter behind a context's file descriptor. */
	private static String nameOf(IbvContext context) throws IOException {
		Path device = Files.readSymbolicLink(Path.of("/proc/self/fd", String.valueOf(context.getCmd_fd())));
		Path name = Path.of("/sys/class/infiniband_verbs", String.valueOf(device.getFileName()), "ibdev");
		return Files.readString(name).strip();
	}

	static AdapterAttributes attributes(String name) {
		boolean iwarp = IWARP.stream().anyMatch(name::startsWith);
		return new AdapterAttributes(iwarp, QUEUE_PAIRS, QUEUE_DEPTH, SEGMENTS, iwarp ? 1 : SEGMENTS, COMPLETIONS,
				READS, READS, 0, 0, MESSAGE_BYTES, name.startsWith("siw"));
	}

	/** Contexts stay open for as long as the process. */
	@Override
	public void hold(Adapter adapter) {
	}

	@Override
	public void release(Adapter adapter, boolean gone) {
		if (gone) {
			logger.warn("{} cannot be removed before the process has ended: its library disni cannot close it",
					adapter.name());
		}
	}

	@Override
	public ConnectionVerbs openConnections() throws IOException {
		return PlainConnectionVerbs.open();
	}

	@Override
	public IbvQP createSharedReceiveQueue(IbvPd domain, int depth, int maxSegments) {
		throw new UnsupportedOperationException("shared receive queues need this project's native library");
	}

	@Override
	public void destroySharedReceiveQueue(IbvQP queue) {
		throw new UnsupportedOperationException("shared receive queues need this project's native library");
	}

	/** The connection manager does so when it disconnects. */
	@Override
	public void fail(IbvQP queuePair) {
		// not to be had by itself
	}

	@Override
	public boolean awaitCompletion(IbvCompChannel channel, IbvCQ queue, long timeoutNanos) throws IOException {
		long millis = Math.min(SLICE_MILLIS, TimeUnit.NANOSECONDS.toMillis(timeoutNanos + 999_999));
		boolean notified = RdmaVerbs.open().getCqEvent(channel, queue, (int) millis);
		if (notified) {
			queue.ackEvents(1);
		}
		return notified;
	}

	@Override
	public void wake(IbvCompChannel channel) {
		// it looks soon
	}

}
