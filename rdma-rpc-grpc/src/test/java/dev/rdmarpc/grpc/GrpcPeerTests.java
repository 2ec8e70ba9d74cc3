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

package dev.rdmarpc.grpc;

import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.assertj.core.api.Assertions;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;
import org.junit.runner.manipulation.Filter;
import org.junit.runner.notification.RunListener;

/**
 * The cases of gRPC's interoperability specification that need no Google service, against
 * a {@link GrpcPeerServer} in another process, which is where {@code rdma.test.peer}
 * says; in the laboratory that is an adapter of the kernel's.
 */
class GrpcPeerTests {

	private static final Set<String> CASES = Set.of("emptyUnary", "largeUnary", "serverStreaming", "clientStreaming",
			"pingPong", "emptyStream", "cancelAfterBegin", "cancelAfterFirstResponse", "fullDuplexCallShouldSucceed",
			"halfDuplexCallShouldSucceed", "veryLargeRequest", "veryLargeResponse", "customMetadata",
			"statusCodeAndMessage", "specialStatusMessage", "unimplementedMethod", "unimplementedService",
			"deadlineExceeded", "deadlineExceededServerStreaming", "timeoutOnSleepingServer");

	static InetSocketAddress peer() {
		String peer = System.getProperty("rdma.test.peer", "");
		Assumptions.assumeTrue(!peer.isEmpty(), "no gRPC server elsewhere (rdma.test.peer=HOST:PORT)");
		int colon = peer.lastIndexOf(':');
		return new InetSocketAddress(peer.substring(0, colon), Integer.parseInt(peer.substring(colon + 1)));
	}

	@Test
	@Timeout(value = 10, unit = TimeUnit.MINUTES)
	void casesOfTheSpecificationPass() {
		peer();
		JUnitCore runner = new JUnitCore();
		runner.addListener(new ProgressListener());
		Result result = runner.run(Request.aClass(RemoteInteropSuite.class).filterWith(new Filter() {
			@Override
			public boolean shouldRun(Description description) {
				return description.isSuite() || CASES.contains(description.getMethodName());
			}

			@Override
			public String describe() {
				return "cases of the specification";
			}
		}));
		SoftAssertions.assertSoftly((softly) -> result.getFailures()
			.forEach((failure) -> softly.fail(failure.getTestHeader() + ": " + failure.getTrace())));
		Assertions.assertThat(result.getRunCount()).isEqualTo(CASES.size());
		Assertions.assertThat(result.getIgnoreCount()).isZero();
		Assertions.assertThat(result.getAssumptionFailureCount()).isZero();
	}

	/** Says in the log of the laboratory which case is slow. */
	private static final class ProgressListener extends RunListener {

		@Override
		public void testStarted(Description description) {
			System.out.println("case " + description.getMethodName());
		}

	}

}
