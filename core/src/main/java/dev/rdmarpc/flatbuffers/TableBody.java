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

package dev.rdmarpc.flatbuffers;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

/** The compiled inside of a table type: all its fields, one after the other. */
interface TableBody {

	/**
	 * Writes the fields of a value.
	 * @param table index of the table in {@code memory}
	 * @param base what to add to indexes of {@code memory} to get positions in the
	 * message
	 */
	void write(@Nullable Object value, SegmentWriter out, ByteBuffer memory, int table, int base);

	/**
	 * Reads the fields and makes a value of them.
	 * @param table position of the table
	 * @param vtable position of its vtable
	 * @param vtableBytes size of its vtable
	 */
	@Nullable Object read(MessageReader in, int table, int vtable, int vtableBytes);

}
