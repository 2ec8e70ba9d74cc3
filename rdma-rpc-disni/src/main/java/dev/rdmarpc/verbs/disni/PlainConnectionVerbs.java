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
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import com.ibm.disni.util.MemoryUtils;
import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.impl.NatObject;
import org.jspecify.annotations.Nullable;

/**
 * The connection manager by DiSNI alone: IPv4; private data travels with a request only,
 * and the listener does not see it; how many Reads may be outstanding is the native
 * library's choice.
 */
final class PlainConnectionVerbs implements ConnectionVerbs {

	private static final byte RETRIES = 7;

	/** Nobody can wake the thread, so it looks for what it is asked to do. */
	private static final long SLICE_MILLIS = 5;

	private final RdmaEventChannel channel;

	private final Map<Long, RdmaCmId> ids = new ConcurrentHashMap<>();

	private PlainConnectionVerbs(RdmaEventChannel channel) {
		this.channel = channel;
	}

	static PlainConnectionVerbs open() throws IOException {
		return new PlainConnectionVerbs(RdmaCm.open().createEventChannel());
	}

	private long add(RdmaCmId id) {
		long handle = ((NatObject) id).getObjId();
		this.ids.put(handle, id);
		return handle;
	}

	private RdmaCmId id(long handle) throws IOException {
		RdmaCmId id = this.ids.get(handle);
		if (id == null) {
			throw new IOException("connection manager's id was destroyed");
		}
		return id;
	}

	@Override
	public long createId() throws IOException {
		return add(this.channel.createId(RdmaCm.RDMA_PS_TCP));
	}

	@Override
	public void closeId(long id) throws IOException {
		RdmaCmId known = this.ids.remove(id);
		if (known != null) {
			known.destroyId();
		}
	}

	@Override
	public void bind(long id, InetSocketAddress address) throws IOException {
		id(id).bindAddr(address);
	}

	@Override
	public void listen(long id, int backlog) throws IOException {
		id(id).listen(backlog);
	}

	@Override
	public void resolveAddress(long id, InetSocketAddress remote, int timeoutMillis) throws IOException {
		id(id).resolveAddr(null, remote, timeoutMillis);
	}

	@Override
	public void resolveRoute(long id, int timeoutMillis) throws IOException {
		id(id).resolveRoute(timeoutMillis);
	}

	@Override
	public long adapterOf(long id) throws IOException {
		Object context = id(id).getVerbs();
		return (context instanceof NatObject known) ? known.getObjId() : 0;
	}

	@Override
	public InetSocketAddress localAddress(long id) throws IOException {
		return address(id(id).getSource());
	}

	@Override
	public InetSocketAddress remoteAddress(long id) throws IOException {
		return address(id(id).getDestination());
	}

	private static InetSocketAddress address(@Nullable SocketAddress address) {
		return (address instanceof InetSocketAddress known) ? known : new InetSocketAddress(0);
	}

	@Override
	public void connect(long id, ConnectionParameters parameters) throws IOException {
		RdmaConnParam param = parameters();
		byte[] privateData = parameters.privateData();
		ByteBuffer memory = ByteBuffer.allocateDirect(Math.max(1, privateData.length)).put(privateData);
		if (privateData.length > 0) {
			param.setPrivate_data(MemoryUtils.getAddress(memory));
			param.setPrivate_data_len((byte) privateData.length);
		}
		try {
			id(id).connect(param);
		}
		finally {
			Reference.reachabilityFence(memory);
		}
	}

	private static RdmaConnParam parameters() throws IOException {
		RdmaConnParam param = new RdmaConnParam();
		param.setRetry_count(RETRIES);
		param.setRnr_retry_count((byte) 0);
		return param;
	}

	@Override
	public void accept(long id, ConnectionParameters parameters) throws IOException {
		if (parameters.privateData().length > 0) {
			throw new IOException("private data of an answer needs this project's native library");
		}
		id(id).accept(parameters());
	}

	/** Destroying the id, which follows, rejects; the reason stays here. */
	@Override
	public void reject(long id, byte[] privateData) {
		// see above
	}

	@Override
	public void disconnect(long id) throws IOException {
		id(id).disconnect();
	}

	@Override
	public boolean awaitEvent(ConnectionEvent event, long timeoutNanos) throws IOException {
		long millis = (timeoutNanos < 0) ? SLICE_MILLIS
				: Math.min(SLICE_MILLIS, TimeUnit.NANOSECONDS.toMillis(timeoutNanos + 999_999));
		RdmaCmEvent taken = this.channel.getCmEvent((int) millis);
		if (taken == null) {
			return false;
		}
		ConnectionEventType type = ConnectionEventType.of(taken.getEvent());
		RdmaCmId subject = taken.getConnIdPriv();
		if (subject == null) {
			return false;
		}
		long handle = ((NatObject) subject).getObjId();
		if (type == ConnectionEventType.CONNECT_REQUEST) {
			this.ids.put(handle, subject);
		}
		RdmaCmId listening = taken.getListenIdPriv();
		event.set(type, 0, handle, (listening != null) ? ((NatObject) listening).getObjId() : 0);
		taken.ackEvent();
		return true;
	}

	@Override
	public void wake() {
		// it looks soon
	}

	@Override
	public AdapterQueuePair createQueuePair(long id, IbvPd domain, IbvCQ completionQueue,
			@Nullable IbvQP sharedReceiveQueue, QueuePairSize size) throws IOException {
		IbvQPInitAttr attributes = new IbvQPInitAttr();
		attributes.cap().setMax_send_wr(size.sends());
		attributes.cap().setMax_recv_wr(size.receives());
		attributes.cap().setMax_send_sge(size.sendSegments());
		attributes.cap().setMax_recv_sge(size.receiveSegments());
		attributes.cap().setMax_inline_data(size.inlineBytes());
		attributes.setQp_type(IbvQP.IBV_QPT_RC);
		attributes.setSend_cq(completionQueue);
		attributes.setRecv_cq(completionQueue);
		IbvQP queuePair = id(id).createQP(domain, attributes);
		return new AdapterQueuePair(id, queuePair, queuePair.getQp_num());
	}

	@Override
	public void destroyQueuePair(AdapterQueuePair queuePair) throws IOException {
		id(queuePair.id()).destroyQP();
	}

	@Override
	public void close() throws IOException {
		this.channel.destroyEventChannel();
	}

}
