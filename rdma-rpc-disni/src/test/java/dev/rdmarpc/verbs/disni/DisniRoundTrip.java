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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedList;
import java.util.List;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCRegMr;

import static org.assertj.core.api.Assertions.assertThat;

/** What a program written for DiSNI does, without any of our extensions. */
final class DisniRoundTrip {

	private final InetSocketAddress address;

	private final RdmaEventChannel channel;

	private final ByteBuffer memory = ByteBuffer.allocateDirect(256);

	DisniRoundTrip(InetAddress address) throws IOException {
		this.address = new InetSocketAddress(address, 0);
		this.channel = RdmaCm.open().createEventChannel();
	}

	void run() throws Exception {
		RdmaCmId listener = RdmaCm.open().createId(this.channel, RdmaCm.RDMA_PS_TCP);
		listener.bindAddr(this.address);
		listener.listen(2);
		InetSocketAddress bound = (InetSocketAddress) listener.getSource();
		assertThat(bound.getAddress()).isEqualTo(this.address.getAddress());
		RdmaCmId client = RdmaCm.open().createId(this.channel, RdmaCm.RDMA_PS_TCP);
		client.resolveAddr(null, bound, 10_000);
		expect(NativePair.ADDRESS_RESOLVED);
		client.resolveRoute(10_000);
		expect(NativePair.ROUTE_RESOLVED);
		IbvPd domain = client.getVerbs().allocPd();
		IbvCompChannel completions = client.getVerbs().createCompChannel();
		IbvCQ queue = client.getVerbs().createCQ(completions, 32, 0);
		IbvQP sender = createPair(client, domain, queue);
		client.connect(parameters());
		RdmaCmId server = expect(NativePair.CONNECT_REQUEST).getConnIdPriv();
		IbvQP receiver = createPair(server, domain, queue);
		server.accept(parameters());
		expect(NativePair.ESTABLISHED);
		expect(NativePair.ESTABLISHED);
		transfer(domain, completions, queue, sender, receiver);
		client.disconnect();
		if (expect(NativePair.DISCONNECTED).getConnIdPriv() == server) {
			NativePair.answer(server);
		}
		expect(NativePair.DISCONNECTED);
		client.destroyQP();
		client.destroyId();
		server.destroyEp();
		queue.destroyCQ();
		completions.destroyCompChannel();
		domain.deallocPd();
		listener.destroyId();
		this.channel.destroyEventChannel();
	}

	private static IbvQP createPair(RdmaCmId id, IbvPd domain, IbvCQ queue) throws IOException {
		IbvQPInitAttr attributes = new IbvQPInitAttr();
		attributes.setQp_type((byte) 2);
		attributes.setSend_cq(queue);
		attributes.setRecv_cq(queue);
		attributes.cap().setMax_send_wr(4);
		attributes.cap().setMax_recv_wr(4);
		IbvQP queuePair = id.createQP(domain, attributes);
		assertThat(queuePair.getQp_num()).isPositive();
		return queuePair;
	}

	private static RdmaConnParam parameters() throws IOException {
		RdmaConnParam parameters = new RdmaConnParam();
		parameters.setRetry_count((byte) 7);
		parameters.setRnr_retry_count((byte) 7);
		return parameters;
	}

	private RdmaCmEvent expect(int type) throws IOException {
		RdmaCmEvent event = this.channel.getCmEvent((int) (NativePair.PATIENCE_NANOS / 1_000_000));
		assertThat(event).isNotNull();
		assertThat(event.getEvent()).isEqualTo(type);
		event.ackEvent();
		return event;
	}

	private void transfer(IbvPd domain, IbvCompChannel completions, IbvCQ queue, IbvQP sender, IbvQP receiver)
			throws IOException {
		SVCRegMr registration = domain.regMr(this.memory, IbvMr.IBV_ACCESS_LOCAL_WRITE).execute();
		IbvMr region = registration.getMr();
		queue.reqNotification(false).execute();
		IbvRecvWR receive = new IbvRecvWR();
		receive.setWr_id(1);
		receive.setSg_list(listOf(segment(region, 0)));
		receive.setNum_sge(1);
		receiver.postRecv(List.of(receive), null).execute().free();
		this.memory.put(128, "disni".getBytes(StandardCharsets.UTF_8));
		IbvSendWR send = new IbvSendWR();
		send.setWr_id(2);
		send.setOpcode(IbvSendWR.IBV_WR_SEND);
		send.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
		send.setSg_list(listOf(segment(region, 128)));
		send.setNum_sge(1);
		sender.postSend(List.of(send), null).execute().free();
		assertThat(completions.getCqEvent(queue, (int) (NativePair.PATIENCE_NANOS / 1_000_000))).isTrue();
		queue.ackEvents(1);
		takeBoth(queue);
		assertThat(this.memory.get(4)).isEqualTo((byte) 'i');
		region.deregMr().execute().free();
		registration.free();
	}

	@SuppressWarnings({ "JdkObsolete", "NonApiType" }) // DiSNI takes no other list
	private static LinkedList<IbvSge> listOf(IbvSge segment) {
		return new LinkedList<>(List.of(segment));
	}

	private static IbvSge segment(IbvMr region, int offset) {
		IbvSge segment = new IbvSge();
		segment.setAddr(region.getAddr() + offset);
		segment.setLength(5);
		segment.setLkey(region.getLkey());
		return segment;
	}

	private static void takeBoth(IbvCQ queue) throws IOException {
		IbvWC[] completions = { new IbvWC(), new IbvWC() };
		SVCPollCq poll = queue.poll(completions, 2);
		long deadline = System.nanoTime() + NativePair.PATIENCE_NANOS;
		int count = 0;
		while (count < 2 && System.nanoTime() < deadline) {
			poll.execute();
			for (int i = 0; i < poll.getPolls(); i++) {
				assertThat(completions[i].getStatus()).isZero();
				count++;
			}
		}
		poll.free();
		assertThat(count).isEqualTo(2);
	}

}
