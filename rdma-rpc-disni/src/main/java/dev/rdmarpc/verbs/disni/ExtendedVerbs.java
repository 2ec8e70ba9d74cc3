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
import java.util.List;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.impl.NatIbvContext;
import com.ibm.disni.verbs.impl.NatIbvQP;
import com.ibm.disni.verbs.impl.NatObject;

/** What the provider needs, by this project's native library. */
final class ExtendedVerbs implements AdapterVerbs {

	private static final int SIW_VENDOR_ID = 0x62_6d_74;

	@Override
	public List<Adapter> adapters() throws IOException {
		List<Adapter> active = new ArrayList<>();
		List<Adapter> inactive = new ArrayList<>();
		for (long context : NativeVerbs.devices()) {
			long[] port = NativeVerbs.queryPort(context, 1);
			Adapter adapter = new Adapter(NativeVerbs.deviceName(context), context, context(context),
					attributes(NativeVerbs.queryDevice(context), port));
			boolean carries = port[NativeLayout.PORT_STATE] == NativeLayout.PORT_STATE_ACTIVE;
			(carries ? active : inactive).add(adapter);
		}
		active.addAll(inactive);
		return active;
	}

	@SuppressWarnings("NullAway") // DiSNI's dispatcher is for what is not asked of it
	private static NatIbvContext context(long handle) throws IOException {
		return new NatIbvContext(handle, null);
	}

	private static AdapterAttributes attributes(long[] device, long[] port) {
		boolean shared = device[NativeLayout.DEVICE_MAX_SRQ] > 0;
		return new AdapterAttributes(device[NativeLayout.DEVICE_TRANSPORT] == 1,
				number(device, NativeLayout.DEVICE_MAX_QUEUE_PAIRS),
				number(device, NativeLayout.DEVICE_MAX_QUEUE_PAIR_WORK), number(device, NativeLayout.DEVICE_MAX_SGE),
				number(device, NativeLayout.DEVICE_MAX_SGE_READ), number(device, NativeLayout.DEVICE_MAX_CQE),
				number(device, NativeLayout.DEVICE_MAX_READ_RESPONDER),
				number(device, NativeLayout.DEVICE_MAX_READ_INITIATOR),
				shared ? number(device, NativeLayout.DEVICE_MAX_SRQ_WORK) : 0,
				shared ? number(device, NativeLayout.DEVICE_MAX_SRQ_SGE) : 0,
				Integer.toUnsignedLong((int) port[NativeLayout.PORT_MAX_MESSAGE_BYTES]),
				device[NativeLayout.DEVICE_VENDOR_ID] == SIW_VENDOR_ID);
	}

	private static int number(long[] values, int index) {
		return (int) Math.min(Integer.MAX_VALUE, values[index]);
	}

	@Override
	public void hold(Adapter adapter) throws IOException {
		NativeVerbs.holdDevice(adapter.handle());
	}

	@Override
	public void release(Adapter adapter, boolean gone) throws IOException {
		NativeVerbs.releaseDevice(adapter.handle(), gone);
	}

	@Override
	public ConnectionVerbs openConnections() throws IOException {
		return ExtendedConnectionVerbs.open();
	}

	@Override
	public IbvQP createSharedReceiveQueue(IbvPd domain, int depth, int maxSegments) throws IOException {
		return queue(NativeVerbs.createSharedReceiveQueue(handle(domain), depth, maxSegments));
	}

	@Override
	public void destroySharedReceiveQueue(IbvQP queue) throws IOException {
		NativeVerbs.close(handle(queue));
	}

	@Override
	public void fail(IbvQP queuePair) throws IOException {
		NativeVerbs.failQueuePair(handle(queuePair));
	}

	@Override
	public boolean awaitCompletion(IbvCompChannel channel, IbvCQ queue, long timeoutNanos) throws IOException {
		return NativeVerbs.awaitCompletion(handle(channel), timeoutNanos) > 0;
	}

	@Override
	public void wake(IbvCompChannel channel) throws IOException {
		NativeVerbs.wakeCompletionChannel(handle(channel));
	}

	static long handle(Object object) {
		return ((NatObject) object).getObjId();
	}

	/** A queue as DiSNI posts to it. */
	@SuppressWarnings("NullAway") // DiSNI's dispatcher is for what is not asked of it
	static IbvQP queue(long handle) throws IOException {
		return new NatIbvQP(handle, null);
	}

}
