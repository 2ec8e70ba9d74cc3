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

package dev.rdmarpc.benchmarks.jmh;

import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;

/**
 * The record codec: a value into a send buffer, and a received message into a value.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CodecBenchmark {

	/** What is sent. */
	@Param
	public Payload payload = Payload.SMALL;

	private final MessageSegments segments = new MessageSegments();

	private final ByteBuffer sendBuffer = ByteBuffer.allocateDirect(4 * 1024 * 1024).order(ByteOrder.LITTLE_ENDIAN);

	private Object value = "";

	private MessageFormat format = new FlatBuffersCodec().result(signature(void.class));

	private ByteBuffer message = ByteBuffer.allocateDirect(0);

	private final ReceivedMemory received = ReceivedMemory.lent();

	private static MethodSignature signature(Type type) {
		return new MethodSignature("benchmark", "call", List.of(), List.of(), type);
	}

	/** Compiles the format and encodes the message to decode. */
	@Setup
	public void prepare() {
		this.value = this.payload.value();
		this.format = new FlatBuffersCodec().result(signature(this.payload.type));
		int length = encode();
		this.message = ByteBuffer.allocateDirect(length).order(ByteOrder.LITTLE_ENDIAN);
		this.message.put(this.sendBuffer.duplicate().clear().limit(length)).flip();
	}

	/** Value to bytes in the send buffer. */
	@Benchmark
	public int encode() {
		this.format.encode(this.value, this.segments);
		this.sendBuffer.clear();
		this.segments.copyTo(this.sendBuffer);
		this.segments.clear();
		return this.sendBuffer.position();
	}

	/** Received bytes to a value, verified. */
	@Benchmark
	public @Nullable Object decode() {
		Object decoded = this.format.decode(this.message, this.received);
		this.received.handOver();
		return decoded;
	}

	/** The payloads. */
	public enum Payload {

		/** Five scalars and a string. */
		SMALL(Small.class),

		/** 16 entries of 1 KiB. */
		ENTRIES_1K(AppendEntries.class),

		/** 16 entries of 64 KiB. */
		ENTRIES_64K(AppendEntries.class),

		/** A vector of 1000 small tables. */
		TABLES(Points.class),

		/** 50 vectors of 250 floats, as from a scan of the sample's store. */
		VECTORS(Vectors.class);

		private final Class<?> type;

		Payload(Class<?> type) {
			this.type = type;
		}

		Object value() {
			return switch (this) {
				case SMALL -> new Small(1, 2, 3, (short) 4, true, "a string of 27 characters..");
				case ENTRIES_1K -> AppendEntries.of(16, 1024);
				case ENTRIES_64K -> AppendEntries.of(16, 64 * 1024);
				case TABLES -> Points.of(1000);
				case VECTORS -> new Vectors(Collections.nCopies(50, new Vector("user1234", new float[250])));
			};
		}

	}

	/** Five scalars and a string. */
	public record Small(int a, long b, double c, short d, boolean e, String text) {

	}

	/** A log entry. */
	public record Entry(long index, long term, byte[] data) {

	}

	/** Log replication. */
	public record AppendEntries(long term, long leader, List<Entry> entries) {

		static AppendEntries of(int count, int bytes) {
			List<Entry> entries = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				entries.add(new Entry(i, 1, new byte[bytes]));
			}
			return new AppendEntries(1, 2, entries);
		}

	}

	/** A small table. */
	public record Point(int id, float x, float y) {

	}

	/** Many small tables. */
	public record Points(List<Point> points) {

		static Points of(int count) {
			List<Point> points = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				points.add(new Point(i, i, -i));
			}
			return new Points(points);
		}

	}

	/** An array of primitives. */
	public record Vector(String key, float[] values) {

	}

	/** Many of them. */
	public record Vectors(List<Vector> vectors) {

	}

}
