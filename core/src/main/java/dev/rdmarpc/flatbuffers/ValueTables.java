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

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.flatbuffers.TableShape.Part;

/** Tables for values that are no records. */
final class ValueTables {

	private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

	private static final MethodHandle IDENTITY = MethodHandles.identity(Object.class);

	private ValueTables() {
	}

	/**
	 * A table around a value that vectors cannot hold as it is, such as another vector.
	 */
	static TableShape wrapper(ResolvedType type, Shape value) {
		TableShape table = new TableShape(type.toString(), "Value_" + type.schemaName());
		table.link(List.of(new Part("value", value, IDENTITY)), IDENTITY);
		return table;
	}

	/** The entry of a map. */
	static TableShape entry(ResolvedType map, Shape key, Shape value) {
		TableShape table = new TableShape("entry of " + map,
				"Entry_" + map.argument(0).schemaName() + "_" + map.argument(1).schemaName());
		table.link(
				List.of(new Part("key", key, method(Map.Entry.class, "getKey", Object.class)),
						new Part("value", value, method(Map.Entry.class, "getValue", Object.class))),
				constructor(MapShape.Entry.class, Object.class, Object.class));
		return table;
	}

	/** A {@link BigDecimal}: unscaled value and scale. */
	static TableShape bigDecimal() {
		TableShape table = new TableShape(BigDecimal.class.getName(), "BigDecimal");
		table.link(List.of(
				new Part("unscaled", new BigIntegerShape(true),
						method(BigDecimal.class, "unscaledValue", BigInteger.class)),
				new Part("scale", new ScalarShape(ScalarKind.INT), method(BigDecimal.class, "scale", int.class))),
				find("bigDecimal", BigDecimal.class, BigInteger.class, int.class));
		return table;
	}

	/**
	 * A {@link ZonedDateTime}: local date-time, offset and zone. Where the reader's zone
	 * rules disagree with the offset, the instant is kept and not the local time.
	 */
	static TableShape zonedDateTime(Shape localDateTime, Shape zone) {
		TableShape table = new TableShape(ZonedDateTime.class.getName(), "ZonedDateTime");
		table.link(List.of(
				new Part("local", localDateTime, method(ZonedDateTime.class, "toLocalDateTime", LocalDateTime.class)),
				new Part("offset_seconds", new ScalarShape(ScalarKind.INT),
						find("offsetSeconds", int.class, ZonedDateTime.class)),
				new Part("zone", zone, method(ZonedDateTime.class, "getZone", ZoneId.class))),
				find("zonedDateTime", ZonedDateTime.class, LocalDateTime.class, int.class, ZoneId.class));
		return table;
	}

	static BigDecimal bigDecimal(@Nullable BigInteger unscaled, int scale) {
		if (unscaled == null) {
			throw new IllegalArgumentException("a number without digits");
		}
		return new BigDecimal(unscaled, scale);
	}

	static int offsetSeconds(ZonedDateTime value) {
		return value.getOffset().getTotalSeconds();
	}

	static ZonedDateTime zonedDateTime(LocalDateTime local, int offsetSeconds, ZoneId zone) {
		return ZonedDateTime.ofInstant(local, ZoneOffset.ofTotalSeconds(offsetSeconds), zone);
	}

	private static MethodHandle method(Class<?> type, String name, Class<?> result) {
		try {
			return LOOKUP.findVirtual(type, name, MethodType.methodType(result));
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static MethodHandle constructor(Class<?> type, Class<?>... parameters) {
		try {
			return LOOKUP.findConstructor(type, MethodType.methodType(void.class, parameters));
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static MethodHandle find(String name, Class<?> result, Class<?>... parameters) {
		try {
			return LOOKUP.findStatic(ValueTables.class, name, MethodType.methodType(result, parameters));
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
