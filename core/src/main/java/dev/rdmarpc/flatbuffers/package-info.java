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
 * FlatBuffers without a schema compiler: plain Java types laid out as FlatBuffers tables
 * that any reader accepts, built front to back as a list of segments.
 *
 * <p>
 * {@link dev.rdmarpc.flatbuffers.FlatBuffersCodec} compiles Java types into shapes once;
 * shapes write through a {@link dev.rdmarpc.flatbuffers.SegmentWriter}, verify received
 * bytes and read them. The mapping is described in {@code docs/wire-protocol.md}, section
 * Messages.
 */
@NullMarked
package dev.rdmarpc.flatbuffers;

import org.jspecify.annotations.NullMarked;
