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

package dev.rdmarpc.direct;

import java.util.Optional;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.rpc.RdmaMethod;

/** Keeps pictures. What both sides of {@code docs/direct-use.md} know. */
public interface Pictures {

	void store(String name, RegisteredBuffer pixels);

	@RdmaMethod(idempotent = true)
	Optional<RegisteredBuffer> load(String name);

	int publish(Album album);

}
