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

/**
 * The verbs, the operations of RDMA, as an SPI for providers.
 *
 * <p>
 * The SPI is the intersection of what RoCE/InfiniBand and base iWARP guarantee: Send and
 * Receive, Send with Solicited Event, Send with Invalidate, RDMA Read and RDMA Write.
 * There is no immediate data and there are no atomics. A Send for which no receive is
 * posted is fatal to the connection. Only <em>delivery</em> order is guaranteed, not
 * <em>placement</em> order, so callers must not poll memory for the last byte. A
 * requester's completion of a Send or Write means that its buffers may be reused, not
 * that the peer has received them.
 *
 * <p>
 * Threading: every object here is thread-safe unless it says otherwise. Reusable argument
 * objects ({@link dev.rdmarpc.verbs.WorkRequest},
 * {@link dev.rdmarpc.verbs.WorkCompletion}) belong to one thread at a time and are read
 * or filled before the call that takes them returns.
 *
 * <p>
 * Progress: unless {@link dev.rdmarpc.verbs.DeviceLimits#automaticProgress()},
 * established queue pairs make progress only while a thread polls or awaits their
 * completion queue. This includes the passive side of one-sided operations.
 */
@NullMarked
package dev.rdmarpc.verbs;

import org.jspecify.annotations.NullMarked;
