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
 * User-space iWARP: the verbs over ordinary TCP sockets, wire-compatible with RDMA
 * adapters and kernels that speak MPA, DDP and RDMAP (RFC 5044, 5041, 5040, 6581).
 *
 * <p>
 * Rooms. {@link dev.rdmarpc.verbs.iwarp.IwarpDevice Device}, domains, queue pairs and
 * shared receive queues are what callers hold. Set-up
 * ({@link dev.rdmarpc.verbs.iwarp.IwarpListener},
 * {@link dev.rdmarpc.verbs.iwarp.MpaInitiator}) ends when a
 * {@link dev.rdmarpc.verbs.iwarp.ConnectionLifecycle lifecycle} takes over the socket.
 * Completion queues, their reactors and connections move the data, through a
 * {@link dev.rdmarpc.verbs.iwarp.ByteStream stream}, of which only
 * {@link dev.rdmarpc.verbs.iwarp.TcpStream} knows that it is a socket. The protocol
 * itself is in {@code rdmap}, its bytes are in {@code wire}.
 *
 * <p>
 * Threading. Each {@link dev.rdmarpc.verbs.iwarp.IwarpCompletionQueue completion queue}
 * owns a {@link dev.rdmarpc.verbs.iwarp.Reactor reactor}: one lock, one selector and the
 * connections of its queue pairs. Everything behind an established connection is guarded
 * by that lock and advances only in the threads that poll, await or ring doorbells; there
 * is no thread of the provider in the data path. Posting takes a queue pair's own short
 * lock only, so that posting threads never wait for a thread that polls. Listening,
 * connecting and the last words of ended connections belong to one daemon thread per
 * device, {@link dev.rdmarpc.verbs.iwarp.ConnectionThread}.
 *
 * <p>
 * Copies. A payload up to
 * {@link dev.rdmarpc.verbs.iwarp.IwarpOptions#copyThresholdBytes()} is copied behind its
 * header so that many small messages leave in one write; a larger one is handed to the
 * socket where it lies. Inbound, the remainder of a large segment is read from the socket
 * straight to its place, everything else is copied once.
 */
@NullMarked
package dev.rdmarpc.verbs.iwarp;

import org.jspecify.annotations.NullMarked;
