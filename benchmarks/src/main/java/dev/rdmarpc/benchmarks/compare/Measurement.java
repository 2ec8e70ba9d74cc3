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

package dev.rdmarpc.benchmarks.compare;

/**
 * A slice of a peer, and where in the comparison it was measured.
 *
 * @param fork how often processes had been started anew, from 0: slices of one are of one
 * pair of processes, unless a failure has ended that, after which another one follows
 * @param round in which round of all, from 0; peers measured in the same one were
 * disturbed alike
 * @param slice what was measured
 */
record Measurement(int fork, int round, Slice slice) {
}
