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

package dev.rdmarpc.verbs.iwarp;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

import javax.net.ssl.SSLContext;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.TestCertificates;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequestHandler;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.ProviderAvailability;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.TlsOptions;
import dev.rdmarpc.verbs.TlsOptions.ClientAuthentication;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsProvider;

/**
 * User-space iWARP whose connections are all protected with TLS, in which both sides show
 * certificates.
 *
 * @param iwarp the provider beneath
 * @param layer what is between TCP and TLS
 */
record TlsProvider(IwarpProvider iwarp, UnaryOperator<ByteStream> layer) implements VerbsProvider {

	static final TlsOptions SERVER = options(TestCertificates.server().context(TestCertificates.client()))
		.withClientAuthentication(ClientAuthentication.NEED);

	static final TlsOptions CLIENT = options(TestCertificates.client().context(TestCertificates.server()));

	static TlsOptions options(SSLContext context) {
		return TlsOptions.of(() -> context);
	}

	@Override
	public String name() {
		return this.iwarp.name();
	}

	@Override
	public int preference() {
		return this.iwarp.preference();
	}

	@Override
	public ProviderAvailability availability() {
		return this.iwarp.availability();
	}

	@Override
	public List<String> deviceNames() {
		return this.iwarp.deviceNames();
	}

	@Override
	public VerbsDevice openDevice(@Nullable String name) {
		if (name == null || name.equals(IwarpProvider.DEVICE_NAME)) {
			return new Device(this.layer);
		}
		return this.iwarp.openDevice(name);
	}

	/** Asks for TLS where nobody else does. */
	private static final class Device extends IwarpDevice {

		Device(UnaryOperator<ByteStream> layer) {
			super(IwarpProvider.DEVICE_NAME, IwarpOptions.DEFAULTS, layer);
		}

		@Override
		public ConnectionListener listen(InetSocketAddress address, ListenOptions options,
				ConnectionRequestHandler handler) {
			return super.listen(address, options.withTls(SERVER), handler);
		}

		@Override
		public CompletableFuture<ConnectionInfo> connect(QueuePair queuePair, InetSocketAddress remote,
				ConnectOptions options) {
			return super.connect(queuePair, remote, options.withTls(CLIENT));
		}

	}

}
