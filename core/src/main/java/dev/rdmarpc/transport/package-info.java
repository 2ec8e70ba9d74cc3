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
 * Connections that carry calls: frames over queue pairs, credits so that no Send ever
 * finds no receive, and the loop that drives them.
 *
 * <p>
 * A {@link dev.rdmarpc.transport.ChannelLoop} owns one completion queue, one shared
 * receive queue and the {@link dev.rdmarpc.transport.RpcChannel}s on them. Whatever
 * touches a channel runs while holding the loop's driver role, and only one thread holds
 * it at a time; see {@link dev.rdmarpc.transport.ChannelLoop} for who that may be. The
 * bytes are described in {@code docs/wire-protocol.md}.
 */
@NullMarked
package dev.rdmarpc.transport;

import org.jspecify.annotations.NullMarked;
