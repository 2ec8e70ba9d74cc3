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
 * FlatBuffers as lists of segments: from plain Java types without a schema compiler, and
 * field by field.
 *
 * <p>
 * {@link dev.rdmarpc.flatbuffers.FlatBuffersCodec} compiles Java types into shapes once;
 * shapes write through a {@link dev.rdmarpc.flatbuffers.SegmentWriter}, verify received
 * bytes and read them. The mapping is described in {@code docs/wire-protocol.md}, section
 * Messages.
 *
 * <p>
 * {@link dev.rdmarpc.flatbuffers.GatherBuilder} writes messages field by field, without
 * records and without copying what lies in registered memory. A finished message is sent
 * as it is and can be part of others: allocate, fill, embed, call.
 *
 * <pre class="code">
 * static void replicate(RegisteredMemory memory, byte[] payload, List&lt;Follower&gt; followers) {
 *   RegisteredBuffer data = memory.allocate(payload.length);
 *   data.buffer().put(payload);
 *   try (GatherBuilder builder = new GatherBuilder(memory)) {
 *     GatherMessage entry = builder.begin(Entry.TYPE).put(Entry.INDEX, 1L).put(Entry.DATA, data).finish();
 *     data.release();
 *     for (Follower follower : followers) {
 *       builder.begin(Append.TYPE).put(Append.TERM, 7L).begin(Append.ENTRIES, 1).add(entry).end();
 *       GatherMessage message = builder.finish();
 *       follower.append(message);
 *       message.release();
 *     }
 *     entry.release();
 *   }
 * }
 *
 * static final class Entry {
 *
 *   static final TableType TYPE = TableType.named("Entry");
 *
 *   static final TableField.OfLong INDEX = TYPE.addLong("index");
 *
 *   static final TableField.OfBytes DATA = TYPE.addBytes("data");
 *
 * }
 *
 * static final class Append {
 *
 *   static final TableType TYPE = TableType.named("AppendEntries");
 *
 *   static final TableField.OfLong TERM = TYPE.addLong("term");
 *
 *   static final TableField.OfTables ENTRIES = TYPE.addTables("entries", Entry.TYPE);
 *
 * }
 *
 * interface Follower {
 *
 *   void append(GatherMessage entries);
 *
 * }
 * </pre>
 *
 * <p>
 * The other side reads the message as it likes: as records with the same fields, as a
 * class that {@code flatc} generated, or as a {@code GatherMessage} again.
 */
@NullMarked
package dev.rdmarpc.flatbuffers;

import org.jspecify.annotations.NullMarked;
