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
import java.nio.ByteBuffer;
import java.util.List;

import com.ibm.disni.util.MemBuf;
import com.ibm.disni.util.MemoryAllocation;
import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.SVCDeregMr;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.SVCRegMr;
import com.ibm.disni.verbs.SVCReqNotify;

/** What DiSNI asks of its native library, answered by a {@link FakeAdapter}. */
final class FakeVerbs extends RdmaVerbs {

	private final FakeAdapter adapter;

	FakeVerbs(FakeAdapter adapter) {
		this.adapter = adapter;
	}

	/** Where DiSNI's own calls have their memory from. */
	private static MemBuf memory(int size) {
		return MemoryAllocation.getInstance().allocate(size);
	}

	@Override
	public IbvPd allocPd(IbvContext context) throws IOException {
		this.adapter.called("allocPd");
		return this.adapter.opened(new IbvPd(context));
	}

	@Override
	public int deallocPd(IbvPd domain) throws IOException {
		this.adapter.called("deallocPd");
		this.adapter.closed(domain);
		return 0;
	}

	@Override
	public IbvCompChannel createCompChannel(IbvContext context) throws IOException {
		this.adapter.called("createCompChannel");
		return this.adapter.opened(new Channel(context));
	}

	/** As the kernel does, refuses while a completion queue is there. */
	@Override
	public int destroyCompChannel(IbvCompChannel channel) throws IOException {
		this.adapter.called("destroyCompChannel");
		if (this.adapter.open().stream().anyMatch(IbvCQ.class::isInstance)) {
			throw new IOException("EBUSY");
		}
		this.adapter.closed(channel);
		return 0;
	}

	@Override
	public IbvCQ createCQ(IbvContext context, IbvCompChannel channel, int entries, int vector) throws IOException {
		this.adapter.called("createCQ");
		return this.adapter.opened(new IbvCQ(context, channel, vector));
	}

	@Override
	public int destroyCQ(IbvCQ queue) throws IOException {
		this.adapter.called("destroyCQ");
		this.adapter.closed(queue);
		return 0;
	}

	@Override
	public SVCRegMr regMr(IbvPd domain, long address, int length, int access) {
		return new SVCRegMr() {
			@Override
			public IbvMr getMr() {
				try {
					return FakeVerbs.this.adapter.opened(new Registration(FakeVerbs.this.adapter, address, length));
				}
				catch (IOException ex) {
					throw new IllegalStateException(ex);
				}
			}

			@Override
			public SVCRegMr execute() {
				FakeVerbs.this.adapter.called("regMr");
				return this;
			}

			@Override
			public boolean isValid() {
				return true;
			}

			@Override
			public SVCRegMr free() {
				return this;
			}
		};
	}

	@Override
	public SVCRegMr regMr(IbvPd domain, ByteBuffer memory, int access) {
		throw new UnsupportedOperationException();
	}

	@Override
	public SVCDeregMr deregMr(IbvMr registration) {
		return new SVCDeregMr() {
			@Override
			public SVCDeregMr execute() throws IOException {
				FakeVerbs.this.adapter.called("deregMr");
				FakeVerbs.this.adapter.closed(registration);
				return this;
			}

			@Override
			public boolean isValid() {
				return true;
			}

			@Override
			public SVCDeregMr free() {
				return this;
			}
		};
	}

	@Override
	public SVCPostSend postSend(IbvQP queuePair, List<IbvSendWR> requests, List<IbvSendWR> refused) {
		this.adapter.called("prepare sends");
		int segments = requests.stream().mapToInt(IbvSendWR::getNum_sge).sum();
		MemBuf memory = memory(
				requests.size() * WorkRequestDescriptor.sendSize() + segments * WorkRequestDescriptor.segmentSize());
		return new SVCPostSend() {
			@Override
			public SendWRMod getWrMod(int index) {
				throw new UnsupportedOperationException();
			}

			@Override
			public SVCPostSend execute() {
				FakeVerbs.this.adapter.called("post sends");
				return this;
			}

			@Override
			public boolean isValid() {
				return true;
			}

			@Override
			public SVCPostSend free() {
				memory.free();
				return this;
			}
		};
	}

	@Override
	public SVCPostRecv postRecv(IbvQP queue, List<IbvRecvWR> requests, List<IbvRecvWR> refused) {
		this.adapter.called("prepare receives");
		int segments = requests.stream().mapToInt(IbvRecvWR::getNum_sge).sum();
		MemBuf memory = memory(
				requests.size() * WorkRequestDescriptor.receiveSize() + segments * WorkRequestDescriptor.segmentSize());
		return new SVCPostRecv() {
			@Override
			public RecvWRMod getWrMod(int index) {
				throw new UnsupportedOperationException();
			}

			@Override
			public SVCPostRecv execute() {
				FakeVerbs.this.adapter.called("post receives");
				return this;
			}

			@Override
			public boolean isValid() {
				return true;
			}

			@Override
			public SVCPostRecv free() {
				memory.free();
				return this;
			}
		};
	}

	@Override
	public SVCPollCq pollCQ(IbvCQ queue, IbvWC[] completions, int most) {
		this.adapter.called("prepare poll");
		MemBuf memory = memory(completions.length * WorkCompletionDescriptor.size());
		return new SVCPollCq() {
			private int polls;

			@Override
			public int getPolls() {
				return this.polls;
			}

			@Override
			public SVCPollCq execute() {
				FakeVerbs.this.adapter.called("poll");
				this.polls = FakeVerbs.this.adapter.poll(memory.getBuffer(), most);
				return this;
			}

			@Override
			public boolean isValid() {
				return true;
			}

			@Override
			public SVCPollCq free() {
				memory.free();
				return this;
			}
		};
	}

	@Override
	public SVCReqNotify reqNotifyCQ(IbvCQ queue, boolean solicitedOnly) {
		this.adapter.called("prepare notification");
		return new SVCReqNotify() {
			@Override
			public SVCReqNotify execute() {
				return this;
			}

			@Override
			public boolean isValid() {
				return true;
			}

			@Override
			public SVCReqNotify free() {
				return this;
			}
		};
	}

	@Override
	public boolean getCqEvent(IbvCompChannel channel, IbvCQ queue, int timeoutMillis) {
		throw new UnsupportedOperationException();
	}

	@Override
	public int ackCqEvents(IbvCQ queue, int count) {
		throw new UnsupportedOperationException();
	}

	@Override
	public int queryOdpSupport(IbvContext context) {
		throw new UnsupportedOperationException();
	}

	@Override
	public int expPrefetchMr(IbvMr registration, long address, int length) {
		throw new UnsupportedOperationException();
	}

	/** Has a constructor. */
	private static final class Channel extends IbvCompChannel {

		Channel(IbvContext context) throws IOException {
			super(0, context);
		}

	}

	/** Memory that is registered. */
	private static final class Registration extends IbvMr {

		private final FakeAdapter adapter;

		@SuppressWarnings("NullAway") // nobody asks for the context
		Registration(FakeAdapter adapter, long address, int length) throws IOException {
			super(null, address, length, 0, 7, 7, 0);
			this.adapter = adapter;
		}

		@Override
		public int getLkey() {
			this.adapter.called("getLkey");
			return super.getLkey();
		}

	}

}
