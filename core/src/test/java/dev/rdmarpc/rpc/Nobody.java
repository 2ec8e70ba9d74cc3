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

package dev.rdmarpc.rpc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;

import dev.rdmarpc.TestEnvironment;

/**
 * An address of this host at which nobody listens. Its port is taken as long as the tests
 * run, so that nobody begins to, either.
 */
final class Nobody {

	private static final Socket SOCKET = new Socket();

	private Nobody() {
	}

	static synchronized InetSocketAddress address() {
		try {
			if (!SOCKET.isBound()) {
				SOCKET.bind(new InetSocketAddress(TestEnvironment.address(), 0));
			}
			return (InetSocketAddress) SOCKET.getLocalSocketAddress();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
