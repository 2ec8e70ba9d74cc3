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
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.UnencodableValueException;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

/**
 * Builds FlatBuffers messages field by field, as lists of segments in registered memory.
 * Small things are written into scratch memory. A byte vector, string or message that
 * lies in registered memory, and anything from the gather threshold on, is referenced
 * where it is and not copied; the builder supplies its length, padding and end.
 *
 * <pre class="code">
 * builder.begin(AppendEntries.TYPE).put(AppendEntries.TERM, 7L);
 * builder.begin(AppendEntries.ENTRIES, 2);
 * builder.begin().put(Entry.INDEX, 1L).put(Entry.DATA, registeredBuffer).end();
 * builder.add(entryBuiltBefore);
 * builder.end();
 * GatherMessage message = builder.finish();
 * </pre>
 *
 * <p>
 * Tables are written front to back, parents before children; what was begun last is ended
 * first. Fields that are not put are absent. A field of another type than the table that
 * is open, a field put twice and an element too many or too few are refused. The size of
 * a message need not be known and nothing is copied to grow.
 *
 * <p>
 * Ownership: buffers and messages that are put are borrowed during the call and retained
 * by the message as long as it lives; byte arrays and {@link ByteBuffer}s that are
 * referenced must not change as long. A message that is not finished holds its references
 * until {@link #abort()}, {@link #close()} or the next {@code begin}.
 *
 * <p>
 * Not thread-safe; the messages are. Once warm, building and releasing a message
 * allocates nothing.
 */
public final class GatherBuilder implements AutoCloseable {

	private final ScratchArena arena;

	private final SegmentWriter out;

	private final OpenParts parts;

	private final OpenTable table;

	private final FlatBuffersOptions options;

	private final GatherMessagePool messages;

	private @Nullable GatherMessage message;

	private int rootPosition;

	private boolean closed;

	/**
	 * Creates a builder with default options.
	 * @param memory where the small parts of messages lie
	 */
	public GatherBuilder(RegisteredMemory memory) {
		this(memory, FlatBuffersOptions.DEFAULTS);
	}

	/**
	 * Creates a builder.
	 * @param memory where the small parts of messages lie
	 * @param options gather threshold and depth
	 */
	public GatherBuilder(RegisteredMemory memory, FlatBuffersOptions options) {
		this.arena = new ScratchArena(memory);
		this.out = new SegmentWriter(this.arena);
		this.parts = new OpenParts(this.out);
		this.table = this.parts.table();
		this.options = options;
		this.messages = new GatherMessagePool(memory.options().leakDetection() != LeakDetection.PARANOID);
	}

	/**
	 * Begins a message with its root table. One that was begun before is aborted.
	 * @throws dev.rdmarpc.memory.MemoryExhaustedException if there is no memory
	 */
	public GatherBuilder begin(TableType root) {
		beginMessage(root, null, 0);
		return this;
	}

	/**
	 * Begins a vector of tables that is to be part of messages whose root it is not.
	 * @param field a field that it will be the value of
	 * @param count number of elements
	 * @see #put(TableField.OfTables, GatherMessage)
	 */
	public GatherBuilder beginVector(TableField.OfTables field, int count) {
		beginMessage(null, field, count);
		return this;
	}

	private void beginMessage(@Nullable TableType type, TableField.@Nullable OfTables vector, int count) {
		if (this.closed) {
			throw new IllegalStateException("builder is closed");
		}
		abort();
		GatherMessage begun = this.messages.take();
		begun.begin(type, vector);
		this.message = begun;
		boolean complete = false;
		try {
			this.out.begin(begun.segments(), this.options.gatherThreshold(), this.options.maxDepth());
			if (type != null) {
				this.rootPosition = this.parts.beginRoot(type);
			}
			else if (vector != null) {
				this.rootPosition = this.parts.beginRoot(vector, count);
			}
			complete = true;
		}
		finally {
			if (!complete) {
				abort();
			}
		}
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfBoolean field, boolean value) {
		int at = this.table.claim(field);
		this.table.memory().put(at, (byte) (value ? 1 : 0));
		return this;
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfByte field, byte value) {
		int at = this.table.claim(field);
		this.table.memory().put(at, value);
		return this;
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfShort field, short value) {
		int at = this.table.claim(field);
		this.table.memory().putShort(at, value);
		return this;
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfInt field, int value) {
		int at = this.table.claim(field);
		this.table.memory().putInt(at, value);
		return this;
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfLong field, long value) {
		int at = this.table.claim(field);
		this.table.memory().putLong(at, value);
		return this;
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfFloat field, float value) {
		int at = this.table.claim(field);
		this.table.memory().putFloat(at, value);
		return this;
	}

	/** Puts a scalar. */
	public GatherBuilder put(TableField.OfDouble field, double value) {
		int at = this.table.claim(field);
		this.table.memory().putDouble(at, value);
		return this;
	}

	/**
	 * Puts a string.
	 * @throws UnencodableValueException if it has unpaired surrogates
	 */
	public GatherBuilder put(TableField.OfString field, String value) {
		OpenTable open = table(field);
		open.refer(field, this.out.writeString(value));
		return this;
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
		return this;
	}

	/** Puts bytes, by reference if they are many. */
	public GatherBuilder put(TableField.OfBytes field, byte[] value) {
		OpenTable open = table(field);
		open.refer(field, this.out.writeBytes(value, field.alignment()));
		return this;
	}

	/** Puts the bytes from position to limit, by reference if they are many. */
	public GatherBuilder put(TableField.OfBytes field, ByteBuffer value) {
		OpenTable open = table(field);
		open.refer(field, this.out.writeBytes(value, field.alignment()));
		return this;
	}

	/**
	 * Puts bytes, by reference.
	 * @param value all of it; retained
	 */
	public GatherBuilder put(TableField.OfBytes field, RegisteredBuffer value) {
		OpenTable open = table(field);
		open.refer(field, this.out.writeBytes(value, field.alignment()));
		return this;
	}

	/** Puts a vector of scalars. */
	public <A> GatherBuilder put(TableField.OfArray<A> field, A value) {
		OpenTable open = table(field);
		open.refer(field, field.kind().write(value, this.out));
		return this;
	}

	/** Puts a vector of strings. */
	public GatherBuilder put(TableField.OfStrings field, List<String> values) {
		begin(field, values.size());
		for (int i = 0; i < values.size(); i++) {
			add(values.get(i));
		}
		return end();
	}

	/**
	 * Puts a message as a table, by reference.
	 * @param table of the field's type; retained
	 */
	public GatherBuilder put(TableField.OfTable field, GatherMessage table) {
		OpenTable open = table(field);
		open.refer(field, embed(field.target(), table));
		return this;
	}

	/**
	 * Puts a vector of tables that was begun by {@link #beginVector}, by reference.
	 * @param vector retained
	 */
	public GatherBuilder put(TableField.OfTables field, GatherMessage vector) {
		OpenTable open = table(field);
		TableField.OfTables built = vector.vector();
		if (built == null || built.target() != field.target()) {
			throw new IllegalArgumentException(vector + " (expected: a vector of " + field.target() + ")");
		}
		open.refer(field, embed(vector));
		return this;
	}

	/**
	 * Puts a message as a member of a union, by reference.
	 * @param table of one of the union's types; retained
	 */
	public GatherBuilder put(TableField.OfUnion field, GatherMessage table) {
		OpenTable open = table(field);
		TableType type = table.type();
		if (type == null) {
			throw new IllegalArgumentException(table + " (expected: a table of one of " + field.members() + ")");
		}
		open.refer(field, field.number(type), embed(type, table));
		return this;
	}

	/**
	 * Puts a message as a nested FlatBuffer, by reference.
	 * @param content a message with a root table, built or received; retained
	 */
	public GatherBuilder put(TableField.OfMessage field, GatherMessage content) {
		OpenTable open = table(field);
		open.refer(field, MessageShape.write(content, this.out));
		return this;
	}

	/** The open table, which must be one with that field, not yet set. */
	private OpenTable table(TableField field) {
		this.table.check(field);
		return this.table;
	}

	private int embed(TableType type, GatherMessage table) {
		if (table.type() != type) {
			throw new IllegalArgumentException(table + " (expected: a message of type " + type + ")");
		}
		return embed(table);
	}

	private int embed(GatherMessage part) {
		this.parts.embed(part.depth());
		return this.out.embed(part.segments(), part.retain(), false) + part.position();
	}

	/** Begins a table, which is open until it is ended. */
	public GatherBuilder begin(TableField.OfTable field) {
		this.parts.begin(field);
		return this;
	}

	/** Begins a table as a member of a union, which is open until it is ended. */
	public GatherBuilder begin(TableField.OfUnion field, TableType member) {
		this.parts.begin(field, member);
		return this;
	}

	/**
	 * Begins a vector of tables, which is open until it is ended.
	 * @param count number of elements
	 */
	public GatherBuilder begin(TableField.OfTables field, int count) {
		this.parts.begin(field, count);
		return this;
	}

	/**
	 * Begins a vector of strings, which is open until it is ended.
	 * @param count number of elements
	 */
	public GatherBuilder begin(TableField.OfStrings field, int count) {
		this.parts.begin(field, count);
		return this;
	}

	/** Begins the next table of the open vector; open until it is ended. */
	public GatherBuilder begin() {
		this.parts.begin();
		return this;
	}

	/**
	 * Adds a message as the next table of the open vector, by reference.
	 * @param table of the vector's type; retained
	 */
	public GatherBuilder add(GatherMessage table) {
		this.parts.add(embed(this.parts.nextTable(), table));
		return this;
	}

	/** Adds the next string of the open vector. */
	public GatherBuilder add(String value) {
		this.parts.checkString();
		this.parts.add(this.out.writeString(value));
		return this;
	}

	/**
	 * Ends the table or vector that is open. The root is ended by {@link #finish()}.
	 * @throws IllegalStateException if it lacks elements, or only the root is open
	 */
	public GatherBuilder end() {
		if (this.parts.endReady()) {
			return this;
		}
		if (this.parts.isRoot()) {
			throw new IllegalStateException("nothing to end (expected: finish)");
		}
		this.parts.end();
		return this;
	}

	/**
	 * Ends the root and the message.
	 * @return the message, owned by the caller
	 * @throws IllegalStateException if there is none, or parts of it are still open
	 */
	public GatherMessage finish() {
		GatherMessage finished = this.message;
		if (finished == null || !this.parts.isRoot()) {
			throw new IllegalStateException((finished != null) ? "parts of the message are open" : "no message begun");
		}
		this.parts.end();
		this.out.finish();
		finished.complete(this.rootPosition, this.parts.deepest());
		this.message = null;
		return finished;
	}

	/**
	 * Builds a message, or aborts it when the content cannot be put.
	 * @param content puts it
	 * @return the message, owned by the caller
	 */
	public GatherMessage build(TableType root, Consumer<GatherBuilder> content) {
		begin(root);
		try {
			content.accept(this);
			return finish();
		}
		finally {
			abort();
		}
	}

	/** Gives up the message that was begun, if any, and all its references. */
	public void abort() {
		GatherMessage begun = this.message;
		if (begun == null) {
			return;
		}
		this.message = null;
		this.out.abort();
		this.parts.clear();
		begun.recycle();
	}

	/** Aborts, and gives the memory back. Messages that were finished live on. */
	@Override
	public void close() {
		abort();
		this.closed = true;
		this.arena.close();
	}

}
