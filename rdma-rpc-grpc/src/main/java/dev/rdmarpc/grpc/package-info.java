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
 * A transport of grpc-java over RDMA queue pairs: a channel and a server for the stubs
 * and services of any gRPC application.
 *
 * <p>
 * One gRPC transport is one {@link dev.rdmarpc.transport.RpcChannel}. Messages are framed
 * by gRPC's own framer, so that compression, limits and statistics are gRPC's, and travel
 * as the messages of a call of the channel, never as HTTP/2. What users run is called
 * after a turn of the loop, see {@link dev.rdmarpc.transport.UserTask}. The bytes are
 * described in {@code docs/wire-protocol.md}.
 */
@NullMarked
package dev.rdmarpc.grpc;

import org.jspecify.annotations.NullMarked;
