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
 * Shared memory: the verbs between processes of one host, or within one process, through
 * two rings in memory that both have mapped. No native code, no system call while both
 * sides poll.
 *
 * <p>
 * Rooms. {@link dev.rdmarpc.verbs.shm.SharedMemoryDevice Device}, domains, queue pairs
 * and shared receive queues are what callers hold. Connections are set up over Unix
 * domain sockets in a {@link dev.rdmarpc.verbs.shm.Rendezvous directory} of the user's,
 * by {@link dev.rdmarpc.verbs.shm.SharedMemoryListener} and
 * {@link dev.rdmarpc.verbs.shm.Initiator}, until a
 * {@link dev.rdmarpc.verbs.shm.Lifecycle} takes over socket and memory. The rings, and
 * all that goes through them, are in {@code ring}. What is shared beyond them with
 * processes that are trusted lies in {@link dev.rdmarpc.verbs.shm.OwnFiles files}: memory
 * of an {@link dev.rdmarpc.verbs.shm.ExtentSource} and the table of a
 * {@link dev.rdmarpc.verbs.shm.TrustedMemory}.
 *
 * <p>
 * Threading. Each completion queue owns an {@link dev.rdmarpc.verbs.shm.Engine engine}:
 * one lock, one selector and the connections of its queue pairs. Everything behind an
 * established connection is guarded by that lock and advances only in the threads that
 * poll, await or ring doorbells. Posting takes a queue pair's own short lock only.
 * Listening and connecting belong to one daemon thread per device,
 * {@link dev.rdmarpc.verbs.shm.ConnectionThread}.
 *
 * <p>
 * The socket of a connection stays open. Its end is the death of the peer; a byte on it
 * wakes a peer that sleeps and has said so in shared memory.
 */
@NullMarked
package dev.rdmarpc.verbs.shm;

import org.jspecify.annotations.NullMarked;
