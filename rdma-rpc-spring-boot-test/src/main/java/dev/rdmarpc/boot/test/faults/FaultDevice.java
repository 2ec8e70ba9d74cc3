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

package dev.rdmarpc.boot.test.faults;

import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.ConnectionRequestHandler;
import dev.rdmarpc.verbs.DeviceLimits;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * A device whose connections have the faults of their targets. Those that it accepts have
 * none.
 */
final class FaultDevice implements VerbsDevice {

	private final VerbsDevice real;

	private final RdmaFaults faults;

	FaultDevice(VerbsDevice real, RdmaFaults faults) {
		this.real = real;
		this.faults = faults;
	}

	@Override
	public String name() {
		return this.real.name();
	}

	@Override
	public DeviceLimits limits() {
		return this.real.limits();
	}

	@Override
	public long copiedBytes() {
		return this.real.copiedBytes();
	}

	@Override
	public long readSinks() {
		return this.real.readSinks();
	}

	@Override
	public long stagingBytes() {
		return this.real.stagingBytes();
	}

	@Override
	public long maxStagingBytes() {
		return this.real.maxStagingBytes();
	}

	@Override
	public boolean isRunning() {
		return this.real.isRunning();
	}

	@Override
	public boolean supportsTls() {
		return this.real.supportsTls();
	}

	@Override
	public boolean mayReach(InetSocketAddress remote) {
		return this.real.mayReach(remote);
	}

	@Override
	public ProtectionDomain allocateProtectionDomain() {
		return new FaultDomain(this, this.real.allocateProtectionDomain());
	}

	@Override
	public CompletionQueue createCompletionQueue(int capacity) {
		return new FaultCompletionQueue(this.real.createCompletionQueue(capacity), this.faults);
	}

	@Override
	public ConnectionListener listen(InetSocketAddress address, ListenOptions options,
			ConnectionRequestHandler handler) {
		return this.real.listen(address, options,
				(request) -> handler.onConnectionRequest(new AcceptedRequest(request)));
	}

	@Override
	public CompletableFuture<ConnectionInfo> connect(QueuePair queuePair, InetSocketAddress remote,
			ConnectOptions options) {
		TargetFaults target = this.faults.of(options.target());
		if (target.refuses()) {
			return CompletableFuture.failedFuture(new VerbsException(VerbsError.CONNECTION_REFUSED,
					"a fault of this test refuses connections to " + options.target()));
		}
		FaultQueuePair connecting = FaultQueuePair.of(queuePair);
		connecting.connectTo(target);
		return this.real.connect(connecting.real(), remote, options);
	}

	@Override
	public void close() {
		this.real.close();
	}

	/** Accepts with the queue pair that is behind another one. */
	private record AcceptedRequest(ConnectionRequest real) implements ConnectionRequest {

		@Override
		public InetSocketAddress remoteAddress() {
			return this.real.remoteAddress();
		}

		@Override
		public byte[] privateData() {
			return this.real.privateData();
		}

		@Override
		public List<X509Certificate> peerCertificates() {
			return this.real.peerCertificates();
		}

		@Override
		public CompletableFuture<ConnectionInfo> accept(QueuePair queuePair, ConnectOptions options) {
			return this.real.accept(FaultQueuePair.of(queuePair).real(), options);
		}

		@Override
		public void reject(byte[] privateData) {
			this.real.reject(privateData);
		}

	}

}
