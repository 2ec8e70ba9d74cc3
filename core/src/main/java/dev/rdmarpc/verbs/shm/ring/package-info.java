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
 * What two processes exchange in shared memory, without sockets and without queue pairs:
 * the layout, the two rings, and the verbs carried in them.
 *
 * <p>
 * {@link dev.rdmarpc.verbs.shm.ring.Link} is the door: it executes posted work requests
 * and serves those of the peer. Everything in this package but posting is guarded by the
 * lock of the completion queue. Reads from a peer that trusts this side pass by the
 * rings: {@link dev.rdmarpc.verbs.shm.ring.PeerWindows} finds what the peer shows in its
 * {@link dev.rdmarpc.verbs.shm.ring.WindowTable}.
 *
 * <p>
 * Trust. The peer may write anything into the memory at any time. Every index and length
 * is read once, checked, and only then used; what fails a check throws a
 * {@link dev.rdmarpc.verbs.shm.ring.LinkFailure}, which ends this connection alone.
 */
@NullMarked
package dev.rdmarpc.verbs.shm.ring;

import org.jspecify.annotations.NullMarked;
