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

import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

import static org.assertj.core.api.Assertions.assertThat;

class ConnectionFailureTests {

	private static final InetSocketAddress PEER = new InetSocketAddress("192.0.2.1", 7471);

	private static VerbsException failure(ConnectionEventType type, int status, byte... privateData) {
		ConnectionEvent event = new ConnectionEvent();
		event.set(type, status, 1, 0);
		event.setParameters(0, 0, privateData);
		return ConnectionFailure.of(event, PEER);
	}

	@Test
	void aRejectionIsToldFromAPortWhereNobodyListens() {
		assertThat(failure(ConnectionEventType.REJECTED, 28).error()).isEqualTo(VerbsError.CONNECTION_REJECTED);
		assertThat(failure(ConnectionEventType.REJECTED, -104).error()).isEqualTo(VerbsError.CONNECTION_REJECTED);
		assertThat(failure(ConnectionEventType.REJECTED, 8).error()).isEqualTo(VerbsError.CONNECTION_REFUSED);
		assertThat(failure(ConnectionEventType.REJECTED, -111).error()).isEqualTo(VerbsError.CONNECTION_REFUSED);
		assertThat(failure(ConnectionEventType.CONNECT_ERROR, -111).error()).isEqualTo(VerbsError.CONNECTION_REFUSED);
	}

	@Test
	void theReasonOfARejectionComesWithoutPadding() {
		assertThat(failure(ConnectionEventType.REJECTED, 28, (byte) 'n', (byte) 'o', (byte) 0, (byte) 0).privateData())
			.containsExactly('n', 'o');
	}

	@Test
	void noRouteIsUnreachableAndSilenceATimeOut() {
		assertThat(failure(ConnectionEventType.ADDRESS_ERROR, -19).error()).isEqualTo(VerbsError.UNREACHABLE);
		assertThat(failure(ConnectionEventType.ROUTE_ERROR, -110).error()).isEqualTo(VerbsError.UNREACHABLE);
		assertThat(failure(ConnectionEventType.UNREACHABLE, -110).error()).isEqualTo(VerbsError.TIMED_OUT);
		assertThat(failure(ConnectionEventType.DISCONNECTED, 0).error()).isEqualTo(VerbsError.CONNECTION_LOST);
	}

	@Test
	void aForeignLibrarySaysItInWords() {
		IOException taken = new IOException("j2c::bind: rdma_bind_addr failed, Address already in use");
		assertThat(ConnectionFailure.ofListening(taken, PEER).error()).isEqualTo(VerbsError.ADDRESS_IN_USE);
		IOException foreign = new IOException("Cannot assign requested address");
		assertThat(ConnectionFailure.ofListening(foreign, PEER).error()).isEqualTo(VerbsError.ADDRESS_NOT_AVAILABLE);
		assertThat(ConnectionFailure.of(new IOException("Connection refused"), PEER).error())
			.isEqualTo(VerbsError.CONNECTION_REFUSED);
	}

}
