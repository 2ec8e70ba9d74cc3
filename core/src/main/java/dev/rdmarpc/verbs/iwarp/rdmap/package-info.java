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
 * RDMAP over DDP over MPA on a byte stream whose parameters are settled (RFC 5044, 5041,
 * 5040): segments in, segments out, the STag table and the queues. Sockets, selectors and
 * the objects of the provider are unknown here. A
 * {@link dev.rdmarpc.verbs.iwarp.rdmap.RdmapStream stream} gets a channel, the queues and
 * what the peer may access, and tells its
 * {@link dev.rdmarpc.verbs.iwarp.rdmap.StreamOwner owner} what has come in.
 *
 * <p>
 * Threading. Streams that share {@link dev.rdmarpc.verbs.iwarp.rdmap.StreamBuffers
 * buffers} advance under one lock, that of their reactor. Any thread posts to a
 * {@link dev.rdmarpc.verbs.support.WorkQueue queue} and looks into the
 * {@link dev.rdmarpc.verbs.iwarp.rdmap.StagTable STag table}.
 */
@NullMarked
package dev.rdmarpc.verbs.iwarp.rdmap;

import org.jspecify.annotations.NullMarked;
