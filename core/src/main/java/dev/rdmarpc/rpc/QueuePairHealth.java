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

package dev.rdmarpc.rpc;

import org.jspecify.annotations.Nullable;

/**
 * The health of one of a client's queue pairs.
 *
 * @param state of its connection
 * @param outstandingCalls calls that wait for a reply
 * @param lastFailure why it is not connected, or an empty string
 * @param rail the name of the rail it is on, or {@code null} if it is not connected
 */
public record QueuePairHealth(ConnectionState state, int outstandingCalls, String lastFailure, @Nullable String rail) {

}
