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
 * The verbs: the vocabulary of RDMA as an SPI that providers implement.
 *
 * <p>
 * It is the intersection of what RoCE/InfiniBand and base iWARP promise: Send and
 * Receive, Send with Solicited Event, Send with Invalidate, RDMA Read and RDMA Write.
 * There is no immediate data and there are no atomics. A Send that finds no receive
 * posted is fatal to the connection; nothing is promised about <em>placement</em> order,
 * only about <em>delivery</em> order, so nobody may poll memory for the last byte; and a
 * requester's completion of a Send or Write says that its buffers may be used again, not
 * that the peer has them.
 *
 * <p>
 * Threading: every object here may be used from any thread unless it says otherwise.
 * Reusable argument objects ({@link dev.rdmarpc.verbs.WorkRequest},
 * {@link dev.rdmarpc.verbs.WorkCompletion}) belong to one thread at a time and are read
 * or filled before the call that takes them returns.
 *
 * <p>
 * Progress: unless {@link dev.rdmarpc.verbs.DeviceLimits#automaticProgress()},
 * established queue pairs advance only while somebody polls or awaits their completion
 * queue. That goes for the passive side of one-sided operations too.
 */
@NullMarked
package dev.rdmarpc.verbs;

import org.jspecify.annotations.NullMarked;
