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

import java.util.concurrent.Flow;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;

/** The rules of Reactive Streams for what publishes an iterator. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class IteratedMessagesRulesTests {

	@TestFactory
	Stream<DynamicTest> publisher() {
		return TckRules.of(new Rules(), "optional_spec111");
	}

	/** With one subscriber each. */
	public static final class Rules extends FlowPublisherVerification<Object> {

		Rules() {
			super(new TestEnvironment(5000, 50, 50, false));
		}

		@Override
		public Flow.Publisher<Object> createFlowPublisher(long elements) {
			return new IteratedMessages(LongStream.range(0, elements).iterator(), () -> {
			});
		}

		@Override
		public Flow.Publisher<Object> createFailedFlowPublisher() {
			IteratedMessages taken = new IteratedMessages(LongStream.range(0, 1).iterator(), () -> {
			});
			taken.subscribe(new Collector<>(0));
			return taken;
		}

	}

}
