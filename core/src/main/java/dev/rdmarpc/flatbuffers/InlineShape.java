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
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * A small value of fixed size, where it is declared: a scalar, or a struct.
 */
final class InlineShape extends Shape {

	private static final List<InlineType<?>> TYPES = List.of(
			scalar(LocalDate.class, "long", 8, 24, (v, m, i) -> m.putLong(i, v.toEpochDay()),
					(m, i) -> LocalDate.ofEpochDay(m.getLong(i))),
			scalar(LocalTime.class, "long", 8, 24, (v, m, i) -> m.putLong(i, v.toNanoOfDay()),
					(m, i) -> LocalTime.ofNanoOfDay(m.getLong(i))),
			scalar(Year.class, "int", 4, 16, (v, m, i) -> m.putInt(i, v.getValue()), (m, i) -> Year.of(m.getInt(i))),
			scalar(ZoneOffset.class, "int", 4, 112, (v, m, i) -> m.putInt(i, v.getTotalSeconds()),
					(m, i) -> ZoneOffset.ofTotalSeconds(m.getInt(i))),
			struct(Instant.class, "seconds:long; nanos:int;", 16, 8, 24, (v, m, i) -> {
				m.putLong(i, v.getEpochSecond());
				m.putLong(i + 8, v.getNano());
			}, (m, i) -> Instant.ofEpochSecond(m.getLong(i), nanos(m.getInt(i + 8)))),
			struct(Duration.class, "seconds:long; nanos:int;", 16, 8, 24, (v, m, i) -> {
				m.putLong(i, v.getSeconds());
				m.putLong(i + 8, v.getNano());
			}, (m, i) -> Duration.ofSeconds(m.getLong(i), nanos(m.getInt(i + 8)))),
			struct(LocalDateTime.class, "epoch_day:long; nano_of_day:long;", 16, 8, 72, InlineShape::put,
					InlineShape::getDateTime),
			struct(OffsetDateTime.class, "epoch_day:long; nano_of_day:long; offset_seconds:int;", 24, 8, 208,
					(v, m, i) -> {
						put(v.toLocalDateTime(), m, i);
						m.putLong(i + 16, v.getOffset().getTotalSeconds() & 0xFFFFFFFFL);
					}, (m, i) -> OffsetDateTime.of(getDateTime(m, i), ZoneOffset.ofTotalSeconds(m.getInt(i + 16)))),
			struct(OffsetTime.class, "nano_of_day:long; offset_seconds:int;", 16, 8, 160, (v, m, i) -> {
				m.putLong(i, v.toLocalTime().toNanoOfDay());
				m.putLong(i + 8, v.getOffset().getTotalSeconds() & 0xFFFFFFFFL);
			}, (m, i) -> OffsetTime.of(LocalTime.ofNanoOfDay(m.getLong(i)),
					ZoneOffset.ofTotalSeconds(m.getInt(i + 8)))),
			struct(YearMonth.class, "year:int; month:int;", 8, 4, 24, (v, m, i) -> {
				m.putInt(i, v.getYear());
				m.putInt(i + 4, v.getMonthValue());
			}, (m, i) -> YearMonth.of(m.getInt(i), m.getInt(i + 4))),
			struct(MonthDay.class, "month:int; day:int;", 8, 4, 24, (v, m, i) -> {
				m.putInt(i, v.getMonthValue());
				m.putInt(i + 4, v.getDayOfMonth());
			}, (m, i) -> MonthDay.of(m.getInt(i), m.getInt(i + 4))),
			struct(Period.class, "years:int; months:int; days:int;", 12, 4, 24, (v, m, i) -> {
				m.putInt(i, v.getYears());
				m.putInt(i + 4, v.getMonths());
				m.putInt(i + 8, v.getDays());
			}, (m, i) -> Period.of(m.getInt(i), m.getInt(i + 4), m.getInt(i + 8))),
			struct(UUID.class, "most_significant:long; least_significant:long;", 16, 8, 32, (v, m, i) -> {
				m.putLong(i, v.getMostSignificantBits());
				m.putLong(i + 8, v.getLeastSignificantBits());
			}, (m, i) -> new UUID(m.getLong(i), m.getLong(i + 8))));

	private final InlineType<?> type;

	private InlineShape(InlineType<?> type) {
		super(type.bytes, type.alignment);
		this.type = type;
	}

	/** The shape of a class, or null if it has none. */
	static @Nullable InlineShape of(Class<?> type) {
		for (InlineType<?> candidate : TYPES) {
			if (candidate.type == type) {
				return new InlineShape(candidate);
			}
		}
		return null;
	}

	private static <T> InlineType<T> scalar(Class<T> type, String name, int bytes, int heapBytes, Writer<T> writer,
			Reader<T> reader) {
		return new InlineType<>(type, name, null, bytes, bytes, heapBytes, writer, reader);
	}

	private static <T> InlineType<T> struct(Class<T> type, String fields, int bytes, int alignment, int heapBytes,
			Writer<T> writer, Reader<T> reader) {
		return new InlineType<>(type, type.getSimpleName(), fields, bytes, alignment, heapBytes, writer, reader);
	}

	private static void put(LocalDateTime value, ByteBuffer memory, int index) {
		memory.putLong(index, value.toLocalDate().toEpochDay());
		memory.putLong(index + 8, value.toLocalTime().toNanoOfDay());
	}

	private static LocalDateTime getDateTime(ByteBuffer memory, int index) {
		return LocalDateTime.of(LocalDate.ofEpochDay(memory.getLong(index)),
				LocalTime.ofNanoOfDay(memory.getLong(index + 8)));
	}

	private static int nanos(int nanos) {
		if (nanos < 0 || nanos > 999_999_999) {
			throw new IllegalArgumentException("nanos " + nanos + " (expected: from 0 to 999999999)");
		}
		return nanos;
	}

	@Override
	boolean isInline() {
		return true;
	}

	@Override
	int valueBytes() {
		return this.type.heapBytes;
	}

	@Override
	boolean isScalar() {
		return this.type.structFields == null;
	}

	@Override
	boolean isElement() {
		return true;
	}

	@Override
	void write(Object value, SegmentWriter out, ByteBuffer memory, int slot, int base) {
		this.type.write(value, memory, slot);
	}

	@Override
	Object read(MessageReader in, int slot) {
		return this.type.reader.read(in.buffer(), slot);
	}

	@Override
	void verify(MessageVerifier in, int slot) {
		// the ranges of the parts are checked by the reader
	}

	@Override
	String schemaType(SchemaWriter schema) {
		String fields = this.type.structFields;
		return (fields != null) ? schema.struct(this.type.schemaName, fields) : this.type.schemaName;
	}

	/** Writes a value to memory. */
	@FunctionalInterface
	private interface Writer<T> {

		void write(T value, ByteBuffer memory, int index);

	}

	/** Reads a value from memory. */
	@FunctionalInterface
	private interface Reader<T> {

		T read(ByteBuffer memory, int index);

	}

	/** A class of small values. */
	private record InlineType<T>(Class<T> type, String schemaName, @Nullable String structFields, int bytes,
			int alignment, int heapBytes, Writer<T> writer, Reader<T> reader) {

		void write(Object value, ByteBuffer memory, int index) {
			this.writer.write(this.type.cast(value), memory, index);
		}

	}

}
