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
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.impl.NatCmaIdPrivate;
import com.ibm.disni.verbs.impl.NatRdmaEventChannel;
import org.jspecify.annotations.Nullable;

/** The connection manager by this project's native library. */
final class ExtendedConnectionVerbs implements ConnectionVerbs {

	/** InfiniBand repeats what was lost so many times, the most its field holds. */
	private static final int RETRIES = 7;

	/** A Send that finds no receive is fatal, as it is over iWARP. */
	private static final int RECEIVER_NOT_READY_RETRIES = 0;

	private static final int IPV4_BYTES = 4;

	private static final int IPV6_BYTES = 16;

	private final RdmaCm cm;

	private final RdmaEventChannel channel;

	private final long channelHandle;

	private final ByteBuffer record = ByteBuffer.allocateDirect(NativeLayout.EVENT_BYTES)
		.order(ByteOrder.nativeOrder());

	private ExtendedConnectionVerbs(RdmaCm cm, RdmaEventChannel channel) {
		this.cm = cm;
		this.channel = channel;
		this.channelHandle = ExtendedVerbs.handle(channel);
	}

	static ExtendedConnectionVerbs open() throws IOException {
		RdmaCm cm = RdmaCm.open();
		return new ExtendedConnectionVerbs(cm, cm.createEventChannel());
	}

	/**
	 * DiSNI's channels remember all their ids for ever, so each id gets one of its own.
	 */
	@Override
	public long createId() throws IOException {
		return ExtendedVerbs
			.handle(this.cm.createId(new NatRdmaEventChannel(this.channelHandle, 0), RdmaCm.RDMA_PS_TCP));
	}

	@SuppressWarnings("NullAway") // DiSNI's dispatcher is for what is not asked of it
	private NatCmaIdPrivate id(long handle) throws IOException {
		return new NatCmaIdPrivate(handle, this.channel, null);
	}

	@Override
	public void closeId(long id) throws IOException {
		NativeVerbs.close(id);
	}

	@Override
	public void bind(long id, InetSocketAddress address) throws IOException {
		InetAddress host = address.getAddress();
		NativeVerbs.bindAddress(id, host.getAddress(), scopeOf(host), address.getPort());
	}

	private static int scopeOf(InetAddress host) {
		return (host instanceof Inet6Address ipv6) ? ipv6.getScopeId() : 0;
	}

	@Override
	public void listen(long id, int backlog) throws IOException {
		this.cm.listen(id(id), backlog);
	}

	@Override
	public void resolveAddress(long id, InetSocketAddress remote, int timeoutMillis) throws IOException {
		InetAddress host = remote.getAddress();
		NativeVerbs.resolveAddress(id, host.getAddress(), scopeOf(host), remote.getPort(), timeoutMillis);
	}

	@Override
	public void resolveRoute(long id, int timeoutMillis) throws IOException {
		this.cm.resolveRoute(id(id), timeoutMillis);
	}

	@Override
	public long adapterOf(long id) throws IOException {
		return NativeVerbs.contextOf(id);
	}

	@Override
	public InetSocketAddress localAddress(long id) throws IOException {
		return address(NativeVerbs.localAddress(id));
	}

	@Override
	public InetSocketAddress remoteAddress(long id) throws IOException {
		return address(NativeVerbs.remoteAddress(id));
	}

	/**
	 * The address that the native library describes, see
	 * {@link NativeVerbs#localAddress}.
	 */
	static InetSocketAddress address(byte[] described) throws UnknownHostException {
		if (described.length == 0) {
			return new InetSocketAddress(0);
		}
		int hostBytes = (described.length >= IPV6_BYTES) ? IPV6_BYTES : IPV4_BYTES;
		byte[] host = Arrays.copyOf(described, hostBytes);
		ByteBuffer rest = ByteBuffer.wrap(described, hostBytes, described.length - hostBytes);
		int port = Short.toUnsignedInt(rest.getShort());
		int scope = (rest.remaining() >= Integer.BYTES) ? rest.getInt() : 0;
		InetAddress address = (scope != 0) ? Inet6Address.getByAddress(null, host, scope)
				: InetAddress.getByAddress(host);
		return new InetSocketAddress(address, port);
	}

	@Override
	public void connect(long id, ConnectionParameters parameters) throws IOException {
		NativeVerbs.connect(id, parameters.privateData(), parameters.responderResources(), parameters.initiatorDepth(),
				RETRIES, RECEIVER_NOT_READY_RETRIES);
	}

	@Override
	public void accept(long id, ConnectionParameters parameters) throws IOException {
		NativeVerbs.accept(id, parameters.privateData(), parameters.responderResources(), parameters.initiatorDepth(),
				RECEIVER_NOT_READY_RETRIES);
	}

	@Override
	public void reject(long id, byte[] privateData) throws IOException {
		NativeVerbs.reject(id, privateData);
	}

	@Override
	public void disconnect(long id) throws IOException {
		this.cm.disconnect(id(id));
	}

	@Override
	public boolean awaitEvent(ConnectionEvent event, long timeoutNanos) throws IOException {
		if (NativeVerbs.awaitEvent(this.channelHandle, this.record, timeoutNanos) <= 0) {
			return false;
		}
		event.set(ConnectionEventType.of(this.record.getInt(NativeLayout.EVENT_TYPE)),
				this.record.getInt(NativeLayout.EVENT_STATUS), this.record.getLong(NativeLayout.EVENT_ID),
				this.record.getLong(NativeLayout.EVENT_LISTENER));
		byte[] privateData = new byte[this.record.getInt(NativeLayout.EVENT_PRIVATE_LENGTH)];
		this.record.get(NativeLayout.EVENT_PRIVATE_DATA, privateData);
		event.setParameters(this.record.getInt(NativeLayout.EVENT_RESPONDER_RESOURCES),
				this.record.getInt(NativeLayout.EVENT_INITIATOR_DEPTH), privateData);
		return true;
	}

	@Override
	public void wake() throws IOException {
		NativeVerbs.wakeEventChannel(this.channelHandle);
	}

	@Override
	public AdapterQueuePair createQueuePair(long id, IbvPd domain, IbvCQ completionQueue,
			@Nullable IbvQP sharedReceiveQueue, QueuePairSize size) throws IOException {
		long shared = (sharedReceiveQueue != null) ? ExtendedVerbs.handle(sharedReceiveQueue) : 0;
		long handle = NativeVerbs.createQueuePair(id, ExtendedVerbs.handle(domain),
				ExtendedVerbs.handle(completionQueue), shared, size.sends(), size.receives(), size.sendSegments(),
				size.receiveSegments(), size.inlineBytes());
		return new AdapterQueuePair(id, ExtendedVerbs.queue(handle), NativeVerbs.queuePairNumber(handle));
	}

	@Override
	public void destroyQueuePair(AdapterQueuePair queuePair) throws IOException {
		NativeVerbs.close(ExtendedVerbs.handle(queuePair.verbs()));
	}

	@Override
	public void close() throws IOException {
		this.channel.destroyEventChannel();
	}

}
