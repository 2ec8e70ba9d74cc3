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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.impl.NatCmaIdPrivate;
import com.ibm.disni.verbs.impl.NatObject;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two connected queue pairs of one device, with nothing between the test and the native
 * library but DiSNI's objects. Queue pairs receive from a shared receive queue if asked.
 */
final class NativePair implements AutoCloseable {

	static final int ADDRESS_RESOLVED = 0;

	static final int ROUTE_RESOLVED = 2;

	static final int CONNECT_REQUEST = 4;

	static final int REJECTED = 8;

	static final int ESTABLISHED = 9;

	static final int DISCONNECTED = 10;

	static final int DEPTH = 16;

	static final int LOCAL_WRITE = 1;

	static final int REMOTE_WRITE = 2;

	static final int REMOTE_READ = 4;

	static final long PATIENCE_NANOS = TestEnvironment.scaled(Duration.ofSeconds(10)).toNanos();

	final ByteBuffer event = ByteBuffer.allocateDirect(NativeLayout.EVENT_BYTES).order(ByteOrder.nativeOrder());

	final RdmaEventChannel channel;

	final RdmaCmId listener;

	final RdmaCmId client;

	final long channelHandle;

	final long clientId;

	final InetAddress address;

	final int port;

	long serverId;

	long context;

	long domain;

	long completionChannel;

	long clientQueue;

	long serverQueue;

	long sharedQueue;

	long clientPair;

	long serverPair;

	NativePair(InetAddress address) throws IOException {
		this.address = address;
		this.channel = RdmaCm.open().createEventChannel();
		this.channelHandle = handle(this.channel);
		this.listener = RdmaCm.open().createId(this.channel, RdmaCm.RDMA_PS_TCP);
		this.client = RdmaCm.open().createId(this.channel, RdmaCm.RDMA_PS_TCP);
		this.clientId = handle(this.client);
		NativeVerbs.bindAddress(handle(this.listener), address.getAddress(), scope(), 0);
		this.listener.listen(4);
		byte[] bound = NativeVerbs.localAddress(handle(this.listener));
		int length = address.getAddress().length;
		assertThat(Arrays.copyOf(bound, length)).isEqualTo(address.getAddress());
		this.port = ((bound[length] & 0xff) << 8) | (bound[length + 1] & 0xff);
	}

	/** Resolves, creates all objects, connects, and checks what both ends hear. */
	NativePair connect(boolean shared, int segments, byte[] request, byte[] reply) throws IOException {
		resolve();
		createObjects(shared, segments);
		this.clientPair = createPair(this.clientId, this.clientQueue, segments);
		NativeVerbs.connect(this.clientId, request, 4, 4, 7, 7);
		expect(CONNECT_REQUEST);
		this.serverId = this.event.getLong(NativeLayout.EVENT_ID);
		assertThat(this.event.getLong(NativeLayout.EVENT_LISTENER)).isEqualTo(handle(this.listener));
		assertThat(NativeVerbs.contextOf(this.serverId)).isEqualTo(this.context);
		assertThat(privateData(request.length)).isEqualTo(request);
		this.serverPair = createPair(this.serverId, this.serverQueue, segments);
		NativeVerbs.accept(this.serverId, reply, 4, 4, 7);
		boolean clientReady = false;
		for (int i = 0; i < 2; i++) {
			expect(ESTABLISHED);
			if (this.event.getLong(NativeLayout.EVENT_ID) == this.clientId) {
				clientReady = true;
				assertThat(privateData(reply.length)).isEqualTo(reply);
			}
		}
		assertThat(clientReady).isTrue();
		return this;
	}

	void resolve() throws IOException {
		NativeVerbs.resolveAddress(this.clientId, this.address.getAddress(), scope(), this.port, 10_000);
		expect(ADDRESS_RESOLVED);
		this.client.resolveRoute(10_000);
		expect(ROUTE_RESOLVED);
		this.context = NativeVerbs.contextOf(this.clientId);
	}

	private void createObjects(boolean shared, int segments) throws IOException {
		RdmaVerbs verbs = RdmaVerbs.open();
		this.domain = handle(verbs.allocPd(this.client.getVerbs()));
		this.completionChannel = handle(verbs.createCompChannel(this.client.getVerbs()));
		this.clientQueue = createCompletionQueue(this.completionChannel);
		this.serverQueue = createCompletionQueue(this.completionChannel);
		if (shared) {
			this.sharedQueue = NativeVerbs.createSharedReceiveQueue(this.domain, 2 * DEPTH, segments);
		}
	}

	long createCompletionQueue(long channel) throws IOException {
		return NativeCalls.DISPATCHER._createCQ(this.context, channel, 4 * DEPTH, 0);
	}

	private long createPair(long id, long queue, int segments) throws IOException {
		return NativeVerbs.createQueuePair(id, this.domain, queue, this.sharedQueue, DEPTH, DEPTH, segments, segments,
				0);
	}

	/** Takes the next event, which must be of this type. */
	void expect(int type) throws IOException {
		assertThat(NativeVerbs.awaitEvent(this.channelHandle, this.event, PATIENCE_NANOS)).as("an event").isEqualTo(1);
		assertThat(this.event.getInt(NativeLayout.EVENT_TYPE))
			.as("event with status %s", this.event.getInt(NativeLayout.EVENT_STATUS))
			.isEqualTo(type);
	}

	/**
	 * Ends the connection: each end hears of it, InfiniBand's only once the other has
	 * answered.
	 */
	void disconnect() throws IOException {
		this.client.disconnect();
		expect(DISCONNECTED);
		if (this.event.getLong(NativeLayout.EVENT_ID) == this.serverId) {
			answer(new NatCmaIdPrivate(this.serverId, this.channel, null));
		}
		expect(DISCONNECTED);
	}

	/** Disconnects an end whose peer did, if that is not done already. */
	static void answer(RdmaCmId id) {
		try {
			id.disconnect();
		}
		catch (IOException ex) {
			assertThat(ex).hasMessageStartingWith("rdma_disconnect: ");
		}
	}

	/** The private data of the event, without the padding of some networks. */
	byte[] privateData(int expectedLength) {
		int length = this.event.getInt(NativeLayout.EVENT_PRIVATE_LENGTH);
		assertThat(length).isBetween(expectedLength, 255);
		byte[] data = new byte[expectedLength];
		this.event.get(NativeLayout.EVENT_PRIVATE_DATA, data);
		return data;
	}

	/** The next completion of a queue, polled for. */
	Completion complete(long queue) throws IOException {
		ByteBuffer completion = ByteBuffer.allocateDirect(48).order(ByteOrder.nativeOrder());
		long deadline = System.nanoTime() + PATIENCE_NANOS;
		int count;
		do {
			count = NativeCalls.DISPATCHER._pollCQ(queue, 1, NativeRequests.addressOf(completion));
			Thread.onSpinWait();
		}
		while (count == 0 && System.nanoTime() < deadline);
		assertThat(count).as("completions").isEqualTo(1);
		return new Completion(completion.getLong(0), completion.getInt(8), completion.getInt(12), completion.getInt(20),
				completion.getInt(24), completion.getInt(28), completion.getInt(36));
	}

	private int scope() {
		return (this.address instanceof Inet6Address ip) ? ip.getScopeId() : 0;
	}

	static long handle(Object object) {
		return ((NatObject) object).getObjId();
	}

	@Override
	public void close() throws IOException {
		NativeVerbs.close(this.clientId);
		if (this.serverId != 0) {
			NativeVerbs.close(this.serverId);
		}
		for (long handle : new long[] { this.sharedQueue, this.clientQueue, this.serverQueue, this.completionChannel,
				this.domain }) {
			if (handle != 0) {
				NativeVerbs.close(handle);
			}
		}
		NativeVerbs.close(handle(this.listener));
		NativeVerbs.close(this.channelHandle);
	}

	/** A completion: see {@code ibv_wc}. */
	record Completion(long id, int status, int opcode, int bytes, int immediate, int queuePair, int flags) {

	}

}
