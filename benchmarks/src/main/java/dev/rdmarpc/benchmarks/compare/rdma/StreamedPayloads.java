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

package dev.rdmarpc.benchmarks.compare.rdma;

import java.util.concurrent.Flow;

import dev.rdmarpc.rpc.RdmaMethod;

/** The service whose messages are streamed, with nothing declared. */
public interface StreamedPayloads {

	/** The name under which it is exported. */
	String SERVICE = "streamed";

	/** The name under which it is exported with methods that are declared inline. */
	String INLINE_SERVICE = "streamed-inline";

	/** Answers each payload with itself. */
	Flow.Publisher<byte[]> echo(Flow.Publisher<byte[]> payloads);

	/** The same, declared inline. */
	interface Inline extends StreamedPayloads {

		@Override
		@RdmaMethod(inline = true)
		Flow.Publisher<byte[]> echo(Flow.Publisher<byte[]> payloads);

	}

}
