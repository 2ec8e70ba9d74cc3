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
import java.io.UncheckedIOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaEventChannel;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.verbs.ProviderAvailability;
import dev.rdmarpc.verbs.disni.NativePair.Completion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The native library on a device, where there is one (in the laboratory there is). */
class NativeDeviceTests {

	private static final byte[] NOTHING = {};

	/** More than any device grants where fewer were asked for. */
	private static final int TOO_MANY_SEGMENTS = 1000;

	@BeforeAll
	static void thereIsADevice() {
		ProviderAvailability availability = DisniAvailability.check();
		assumeTrue(availability.available(), availability.reason());
		assumeTrue(NativeLibrary.extended(), "the library has no extensions");
	}

	@Test
	void devicesAreDescribed() throws IOException {
		long[] contexts = NativeVerbs.devices();
		assertThat(contexts).isNotEmpty().isEqualTo(NativeVerbs.devices());
		for (long context : contexts) {
			assertThat(NativeVerbs.deviceName(context)).isNotBlank();
			long[] device = NativeVerbs.queryDevice(context);
			assertThat(device[NativeLayout.DEVICE_MAX_QUEUE_PAIRS]).isPositive();
			assertThat(device[NativeLayout.DEVICE_MAX_SGE]).isPositive();
			assertThat(device[NativeLayout.DEVICE_TRANSPORT]).isBetween(0L, 1L);
			long[] port = NativeVerbs.queryPort(context, 1);
			assertThat(port[NativeLayout.PORT_STATE]).isEqualTo(NativeLayout.PORT_STATE_ACTIVE);
			assertThat(port[NativeLayout.PORT_MAX_MESSAGE_BYTES]).isPositive();
			assertThatThrownBy(() -> NativeVerbs.close(context)).isInstanceOf(NativeVerbsException.class);
		}
	}

	@Test
	void aDeviceIsHeldAndReleasedByEachUser() throws IOException {
		for (long context : NativeVerbs.devices()) {
			NativeVerbs.holdDevice(context);
			NativeVerbs.holdDevice(context);
			NativeVerbs.releaseDevice(context, false);
			assertThat(NativeVerbs.deviceName(context)).isNotBlank();
			NativeVerbs.releaseDevice(context, false);
			assertThat(NativeVerbs.devices()).contains(context);
			assertThatThrownBy(() -> NativeVerbs.holdDevice(context + 1)).isInstanceOf(NativeVerbsException.class);
			assertThatThrownBy(() -> NativeVerbs.releaseDevice(context + 1, true))
				.isInstanceOf(NativeVerbsException.class);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void messagesArriveInTheReceivesOfTheQueuePairOrOfAll(boolean shared) throws IOException {
		try (NativePair pair = pair(shared, 1); NativeRequests requests = requests(pair)) {
			ByteBuffer receive = requests.receive(7, 0, 1, 64);
			long queue = shared ? pair.sharedQueue : pair.serverPair;
			assertThat(NativeCalls.postReceive(queue, NativeRequests.addressOf(receive))).isZero();
			requests.put(1024, "hello, receiver");
			ByteBuffer send = requests.request(NativeRequests.SEND, 8, 1024, 1, 15, 0, 0);
			assertThat(NativeCalls.postSend(pair.clientPair, NativeRequests.addressOf(send))).isZero();
			Completion received = pair.complete(pair.serverQueue);
			assertThat(received.id()).isEqualTo(7);
			assertThat(received.status()).isZero();
			assertThat(received.bytes()).isEqualTo(15);
			assertThat(received.queuePair()).isEqualTo(NativeVerbs.queuePairNumber(pair.serverPair));
			assertThat(requests.get(0, 15)).isEqualTo("hello, receiver");
			assertThat(pair.complete(pair.clientQueue).id()).isEqualTo(8);
			if (shared) {
				assertThat(NativeCalls.postReceive(pair.serverPair, NativeRequests.addressOf(receive)))
					.isEqualTo(NativeCalls.INVALID_ARGUMENT);
				assertThatThrownBy(() -> NativeVerbs.close(pair.sharedQueue)).hasMessageContaining("EBUSY");
			}
		}
	}

	@Test
	void moreSegmentsThanDisniHas() throws IOException {
		try (NativePair pair = pair(true, 6); NativeRequests requests = requests(pair)) {
			ByteBuffer receive = requests.receive(1, 0, 5, 8);
			assertThat(NativeCalls.postReceive(pair.sharedQueue, NativeRequests.addressOf(receive))).isZero();
			requests.put(512, "abcdefghijklmnopqrstuvwxyz0123");
			ByteBuffer send = requests.request(NativeRequests.SEND, 2, 512, 6, 5, 0, 0);
			assertThat(NativeCalls.postSend(pair.clientPair, NativeRequests.addressOf(send))).isZero();
			assertThat(pair.complete(pair.serverQueue).bytes()).isEqualTo(30);
			assertThat(requests.get(0, 30)).isEqualTo("abcdefghijklmnopqrstuvwxyz0123");
			assertThat(pair.complete(pair.clientQueue).status()).isZero();
			ByteBuffer many = requests.request(NativeRequests.SEND, 3, 0, TOO_MANY_SEGMENTS, 1, 0, 0);
			assertThat(NativeCalls.postSend(pair.clientPair, NativeRequests.addressOf(many)))
				.isEqualTo(NativeCalls.INVALID_ARGUMENT);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void receivesWithMoreSegmentsThanAskedForAreRefused(boolean shared) throws IOException {
		try (NativePair pair = pair(shared, 1); NativeRequests requests = requests(pair)) {
			long queue = shared ? pair.sharedQueue : pair.serverPair;
			ByteBuffer many = requests.receive(1, 0, TOO_MANY_SEGMENTS, 1);
			assertThat(NativeCalls.postReceive(queue, NativeRequests.addressOf(many)))
				.isEqualTo(NativeCalls.INVALID_ARGUMENT);
			ByteBuffer negative = requests.receive(2, 0, 1, 1).putInt(24, -1);
			assertThat(NativeCalls.postReceive(queue, NativeRequests.addressOf(negative)))
				.isEqualTo(NativeCalls.INVALID_ARGUMENT);
			ByteBuffer second = requests.receive(3, 0, 1, 1);
			ByteBuffer first = requests.receive(4, 0, 1, 1).putLong(8, NativeRequests.addressOf(second));
			second.putInt(24, TOO_MANY_SEGMENTS);
			assertThat(NativeCalls.postReceive(queue, NativeRequests.addressOf(first))).as("further down the chain")
				.isEqualTo(NativeCalls.INVALID_ARGUMENT);
		}
	}

	@Test
	void memoryIsReadAndWritten() throws IOException {
		try (NativePair pair = pair(false, 1); NativeRequests requests = requests(pair)) {
			requests.put(0, "what lies at the peer");
			ByteBuffer read = requests.request(NativeRequests.READ, 1, 256, 1, 21, requests.address,
					requests.remoteKey);
			assertThat(NativeCalls.postSend(pair.clientPair, NativeRequests.addressOf(read))).isZero();
			assertThat(pair.complete(pair.clientQueue))
				.isEqualTo(new Completion(1, 0, 2, 21, 0, NativeVerbs.queuePairNumber(pair.clientPair), 0));
			assertThat(requests.get(256, 21)).isEqualTo("what lies at the peer");
			ByteBuffer write = requests.request(NativeRequests.WRITE, 2, 256, 1, 21, requests.address + 512,
					requests.remoteKey);
			assertThat(NativeCalls.postSend(pair.serverPair, NativeRequests.addressOf(write))).isZero();
			assertThat(pair.complete(pair.serverQueue).status()).isZero();
			// a Read behind the Write: the Write's own completion does not say that it
			// was placed
			ByteBuffer back = requests.request(NativeRequests.READ, 3, 1024, 1, 21, requests.address + 512,
					requests.remoteKey);
			assertThat(NativeCalls.postSend(pair.serverPair, NativeRequests.addressOf(back))).isZero();
			assertThat(pair.complete(pair.serverQueue).status()).isZero();
			assertThat(requests.get(1024, 21)).isEqualTo("what lies at the peer");
		}
	}

	@Test
	void privateDataTravelsBothWays() throws IOException {
		byte[] request = "may I come in?".getBytes(StandardCharsets.UTF_8);
		byte[] reply = "you may".getBytes(StandardCharsets.UTF_8);
		try (NativePair pair = new NativePair(TestEnvironment.address()).connect(false, 1, request, reply)) {
			assertThat(NativeVerbs.remoteAddress(pair.clientId)).isEqualTo(NativeVerbs.localAddress(pair.serverId));
			pair.disconnect();
		}
	}

	@Test
	void aRejectionSaysWhy() throws IOException {
		byte[] why = "no room".getBytes(StandardCharsets.UTF_8);
		try (NativePair pair = new NativePair(TestEnvironment.address())) {
			pair.resolve();
			pair.domain = NativePair.handle(pair.client.getVerbs().allocPd());
			pair.clientQueue = pair.createCompletionQueue(0);
			NativeVerbs.createQueuePair(pair.clientId, pair.domain, pair.clientQueue, 0, 4, 4, 1, 1, 0);
			NativeVerbs.connect(pair.clientId, NOTHING, 1, 1, 7, 7);
			pair.expect(NativePair.CONNECT_REQUEST);
			pair.serverId = pair.event.getLong(NativeLayout.EVENT_ID);
			NativeVerbs.reject(pair.serverId, why);
			pair.expect(NativePair.REJECTED);
			assertThat(pair.privateData(why.length)).isEqualTo(why);
		}
	}

	@Test
	void completionsNotifyWakeAndTimeOut() throws Exception {
		try (NativePair pair = pair(false, 1); NativeRequests requests = requests(pair)) {
			assertThat(NativeVerbs.awaitCompletion(pair.completionChannel, 0)).isZero();
			NativeVerbs.wakeCompletionChannel(pair.completionChannel);
			assertThat(NativeVerbs.awaitCompletion(pair.completionChannel, -1)).isEqualTo(-1);
			assertThat(NativeCalls.requestNotification(pair.serverQueue)).isZero();
			CompletableFuture<Long> waiting = CompletableFuture.supplyAsync(() -> {
				try {
					return NativeVerbs.awaitCompletion(pair.completionChannel, NativePair.PATIENCE_NANOS);
				}
				catch (IOException ex) {
					throw new UncheckedIOException(ex);
				}
			});
			ByteBuffer receive = requests.receive(1, 0, 1, 8);
			assertThat(NativeCalls.postReceive(pair.serverPair, NativeRequests.addressOf(receive))).isZero();
			ByteBuffer send = requests.request(NativeRequests.SEND, 2, 64, 1, 8, 0, 0);
			assertThat(NativeCalls.postSend(pair.clientPair, NativeRequests.addressOf(send))).isZero();
			assertThat(waiting.get(NativePair.PATIENCE_NANOS, TimeUnit.NANOSECONDS)).isEqualTo(pair.serverQueue);
			assertThat(pair.complete(pair.serverQueue).id()).isEqualTo(1);
			assertThat(pair.complete(pair.clientQueue).id()).isEqualTo(2);
		}
	}

	@Test
	void closingEndsAWaitAndErrorFlushes() throws Exception {
		NativePair pair = pair(false, 1);
		try (NativeRequests requests = requests(pair)) {
			ByteBuffer receive = requests.receive(5, 0, 1, 8);
			assertThat(NativeCalls.postReceive(pair.clientPair, NativeRequests.addressOf(receive))).isZero();
			NativeVerbs.failQueuePair(pair.clientPair);
			assertThat(pair.complete(pair.clientQueue).status()).as("flushed").isEqualTo(5);
		}
		assertThatThrownBy(() -> NativeVerbs.close(pair.channelHandle)).hasMessageContaining("EBUSY");
		pair.close();
		RdmaEventChannel channel = RdmaCm.open().createEventChannel();
		long handle = NativePair.handle(channel);
		ByteBuffer event = ByteBuffer.allocateDirect(NativeLayout.EVENT_BYTES);
		CompletableFuture<Integer> waiting = CompletableFuture.supplyAsync(() -> {
			try {
				return NativeVerbs.awaitEvent(handle, event, -1);
			}
			catch (IOException ex) {
				return -2;
			}
		});
		NativeVerbs.close(handle);
		assertThat(waiting.get(NativePair.PATIENCE_NANOS, TimeUnit.NANOSECONDS)).isNegative();
	}

	@Test
	void disniItselfConnectsAndTransfers() throws Exception {
		new DisniRoundTrip(TestEnvironment.address()).run();
	}

	@Test
	void addressesMayBeOfSixteenBytes() throws IOException {
		InetAddress address = linkLocal();
		assumeTrue(address != null, "the interface of the device has no IPv6 address");
		try (NativePair pair = new NativePair(address).connect(false, 1, NOTHING, NOTHING)) {
			assertThat(NativeVerbs.localAddress(pair.clientId)).hasSize(22);
		}
	}

	private static InetAddress linkLocal() throws IOException {
		NetworkInterface device = NetworkInterface.getByInetAddress(TestEnvironment.address());
		return Collections.list(device.getInetAddresses())
			.stream()
			.filter(Inet6Address.class::isInstance)
			.findFirst()
			.orElse(null);
	}

	private static NativePair pair(boolean shared, int segments) throws IOException {
		return new NativePair(TestEnvironment.address()).connect(shared, segments, NOTHING, NOTHING);
	}

	private static NativeRequests requests(NativePair pair) throws IOException {
		return new NativeRequests(pair.domain, 4096,
				NativePair.LOCAL_WRITE | NativePair.REMOTE_READ | NativePair.REMOTE_WRITE);
	}

}
