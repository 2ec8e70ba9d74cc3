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
 * The command {@code rdma-ping}: proves that two hosts reach each other through a verbs
 * provider, and says how fast.
 *
 * <p>
 * It speaks the protocol of {@code rping} of rdma-core, so either side may also be that.
 * One ping is: the initiator Sends where its data lies, the responder Reads it and Sends
 * that it has; the initiator Sends where the data may go, the responder Writes it there
 * and Sends that it has. What is Sent is a
 * {@link dev.rdmarpc.tools.ping.AdvertisementDescriptor 16-byte advertisement}; those of
 * the responder mean nothing but their arrival.
 */
@NullMarked
package dev.rdmarpc.tools.ping;

import org.jspecify.annotations.NullMarked;
