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
import java.net.InetSocketAddress;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * Why a connection was not set up, in the words of the SPI.
 *
 * <p>
 * The status of an event is a negative errno, or, of a rejection over InfiniBand, the
 * reason code of the specification (volume 1, 12.6.7.2).
 */
final class ConnectionFailure {

	private static final int CONNECTION_RESET = 104;

	private static final int TIMED_OUT = 110;

	private static final int CONNECTION_REFUSED = 111;

	private static final int ADDRESS_IN_USE = 98;

	private static final int ADDRESS_NOT_AVAILABLE = 99;

	private static final int NO_SUCH_DEVICE = 19;

	private static final int NETWORK_UNREACHABLE = 101;

	private static final int HOST_UNREACHABLE = 113;

	/** InfiniBand: nobody listens for this service. */
	private static final int INVALID_SERVICE_ID = 8;

	private ConnectionFailure() {
	}

	/** What an event says that ends an attempt. */
	static VerbsException of(ConnectionEvent event, InetSocketAddress peer) {
		VerbsError error = switch (event.type()) {
			case ADDRESS_ERROR, ROUTE_ERROR -> VerbsError.UNREACHABLE;
			case UNREACHABLE -> (event.status() == -TIMED_OUT) ? VerbsError.TIMED_OUT : VerbsError.UNREACHABLE;
			case REJECTED -> rejection(event.status());
			case CONNECT_ERROR -> ofErrno(-event.status(), VerbsError.CONNECTION_LOST);
			default -> VerbsError.CONNECTION_LOST;
		};
		return new VerbsException(error, peer + ": " + event, null, event.unpaddedPrivateData());
	}

	private static VerbsError rejection(int status) {
		return (status == INVALID_SERVICE_ID || status == -CONNECTION_REFUSED) ? VerbsError.CONNECTION_REFUSED
				: VerbsError.CONNECTION_REJECTED;
	}

	/** Why a step of setting up a connection has failed: a verb, or something else. */
	static VerbsException of(Throwable ex, InetSocketAddress peer) {
		if (ex instanceof VerbsException known) {
			return known;
		}
		if (ex instanceof IOException verb) {
			return new VerbsException(ofErrno(errno(verb), VerbsError.CONNECTION_LOST), peer + ": " + verb.getMessage(),
					verb);
		}
		return new VerbsException(VerbsError.DEVICE_ERROR, peer + ": " + ex, ex);
	}

	/** What a failed verb says that was part of listening. */
	static VerbsException ofListening(IOException ex, InetSocketAddress address) {
		VerbsError error = switch (errno(ex)) {
			case ADDRESS_IN_USE -> VerbsError.ADDRESS_IN_USE;
			case ADDRESS_NOT_AVAILABLE, NO_SUCH_DEVICE -> VerbsError.ADDRESS_NOT_AVAILABLE;
			default -> VerbsError.DEVICE_ERROR;
		};
		return new VerbsException(error, address + ": " + ex.getMessage(), ex);
	}

	private static VerbsError ofErrno(int errno, VerbsError otherwise) {
		return switch (errno) {
			case CONNECTION_REFUSED -> VerbsError.CONNECTION_REFUSED;
			case TIMED_OUT -> VerbsError.TIMED_OUT;
			case NETWORK_UNREACHABLE, HOST_UNREACHABLE, NO_SUCH_DEVICE -> VerbsError.UNREACHABLE;
			case CONNECTION_RESET -> VerbsError.CONNECTION_LOST;
			default -> otherwise;
		};
	}

	/**
	 * The errno behind an exception: our library says it in the exception, others in its
	 * text.
	 */
	private static int errno(IOException ex) {
		if (ex instanceof NativeVerbsException verbs) {
			return verbs.errno();
		}
		String text = String.valueOf(ex.getMessage());
		if (text.contains("in use")) {
			return ADDRESS_IN_USE;
		}
		if (text.contains("assign requested address")) {
			return ADDRESS_NOT_AVAILABLE;
		}
		return text.contains("refused") ? CONNECTION_REFUSED : 0;
	}

}
