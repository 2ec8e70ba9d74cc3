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

import dev.rdmarpc.codec.UnencodableValueException;
import dev.rdmarpc.memory.RegisteredBuffer;

/** The fields that a {@link GatherBuilder} puts in one step. */
public abstract sealed class FieldPuts permits GatherBuilder {

	private final SegmentWriter out;

	private final OpenParts parts;

	private final OpenTable table;

	FieldPuts(ScratchArena arena) {
		this.out = new SegmentWriter(arena);
		this.parts = new OpenParts(this.out);
		this.table = this.parts.table();
	}

	private GatherBuilder self() {
		return (GatherBuilder) this;
	}

	/** Where the message is written to. */
	final SegmentWriter writer() {
		return this.out;
	}

	/** The parts that are open. */
	final OpenParts parts() {
		return this.parts;
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfBoolean field, boolean value) {
		int at = this.table.claim(field);
		this.table.memory().put(at, (byte) (value ? 1 : 0));
		return self();
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfByte field, byte value) {
		int at = this.table.claim(field);
		this.table.memory().put(at, value);
		return self();
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfShort field, short value) {
		int at = this.table.claim(field);
		this.table.memory().putShort(at, value);
		return self();
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfInt field, int value) {
		int at = this.table.claim(field);
		this.table.memory().putInt(at, value);
		return self();
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfLong field, long value) {
		int at = this.table.claim(field);
		this.table.memory().putLong(at, value);
		return self();
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfFloat field, float value) {
		int at = this.table.claim(field);
		this.table.memory().putFloat(at, value);
		return self();
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfDouble field, double value) {
		int at = this.table.claim(field);
		this.table.memory().putDouble(at, value);
		return self();
	}

	/**
	 * Puts a string.
	 * @throws UnencodableValueException if it has unpaired surrogates
	 */
	public GatherBuilder put(TableField.OfString field, String value) {
		OpenTable open = table(field);
		open.refer(field, this.out.writeString(value));
		return self();
	}

	/** The open table, which must be one with that field, not yet set. */
	final OpenTable table(TableField field) {
		this.table.check(field);
		return this.table;
	}

	/**
	 * Puts a string, by reference.
	 * @param utf8 all of it; retained
	 * @throws UnencodableValueException if it is not well-formed
	 */
	public GatherBuilder put(TableField.OfString field, RegisteredBuffer utf8) {
		OpenTable open = table(field);
		if (!Utf8.isValid(utf8.memory(), utf8.offset(), utf8.length())) {
			throw new UnencodableValueException(field + " is not UTF-8");
		}
		int position = this.out.writeBytes(utf8, SegmentWriter.OFFSET_BYTES);
		this.out.terminate();
		open.refer(field, position);
		return self();
	}

	/** Puts bytes, by reference if they are many. */
	public GatherBuilder put(TableField.OfBytes field, byte[] value) {
		OpenTable open = table(field);
		open.refer(field, this.out.writeBytes(value, field.alignment()));
		return self();
	}

	/** Puts the bytes from position to limit, by reference if they are many. */
	public GatherBuilder put(TableField.OfBytes field, ByteBuffer value) {
		OpenTable open = table(field);
		open.refer(field, this.out.writeBytes(value, field.alignment()));
		return self();
	}

	/**
	 * Puts bytes, by reference.
	 * @param value all of it; retained
	 */
	public GatherBuilder put(TableField.OfBytes field, RegisteredBuffer value) {
		OpenTable open = this.table;
		int slot = open.claim(field);
		int position;
		try {
			position = this.out.writeBytes(value, field.alignment());
		}
		catch (RuntimeException ex) {
			open.unclaim(field);
			throw ex;
		}
		open.referFrom(slot, position);
		return self();
	}

	/** Puts a vector of scalars. */
	public <A> GatherBuilder put(TableField.OfArray<A> field, A value) {
		OpenTable open = table(field);
		open.refer(field, field.kind().write(value, this.out));
		return self();
	}

}
