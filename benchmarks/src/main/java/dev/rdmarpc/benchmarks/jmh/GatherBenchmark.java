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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.flatbuffers.GatherBuilder;
import dev.rdmarpc.flatbuffers.GatherMessage;
import dev.rdmarpc.flatbuffers.TableField;
import dev.rdmarpc.flatbuffers.TableType;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

/**
 * The same messages four ways, ready to be posted: by the stock builder and one copy to
 * the send buffer ({@code *Stock}), by the stock builder in registered memory
 * ({@code *InPlace}), which has been sent when the next message begins, by the gather
 * builder ({@code *Gather}) and by the record codec ({@code *Record}), both as segments
 * that the device gathers. The data of entries lies in registered memory. {@code *Posted}
 * goes on until a work request names all of it by regions of the device.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class GatherBenchmark {

	private static final int ENTRIES = 16;

	private static final int FOLLOWERS = 5;

	private static final int POINTS = 1000;

	private static final String TEXT = "a string of 27 characters..";

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);

	private final PostingDevice device = new PostingDevice(this.memory);

	private final GatherBuilder builder = new GatherBuilder(this.memory);

	private final StockMessages stock = StockMessages.copied();

	private final StockMessages inPlace = StockMessages.inPlace(this.memory);

	private final MessageSegments segments = new MessageSegments();

	private final RegisteredBuffer[] data1k = data(1024);

	private final RegisteredBuffer[] data64k = data(64 * 1024);

	private final GatherMessage[] followers = new GatherMessage[FOLLOWERS];

	private final GatherMessage entries = vector();

	private final MessageFormat smallFormat = format(Small.class);

	private final MessageFormat appendFormat = format(Append.class);

	private final MessageFormat pointsFormat = format(Points.class);

	private Small small = new Small(0, 0, 0, (short) 0, false, "");

	private Append append1k = new Append(0, 0, List.of());

	private Append append64k = new Append(0, 0, List.of());

	private Points points = new Points(List.of());

	private RegisteredBuffer[] data(int bytes) {
		RegisteredBuffer[] data = new RegisteredBuffer[ENTRIES];
		for (int i = 0; i < ENTRIES; i++) {
			data[i] = this.memory.allocate(bytes);
		}
		return data;
	}

	private static MessageFormat format(Type type) {
		return new FlatBuffersCodec().result(new MethodSignature("benchmark", "call", List.of(), List.of(), type));
	}

	/** Makes the records. */
	@Setup
	public void prepare() {
		this.small = new Small(1, 2, 3, (short) 4, true, TEXT);
		this.append1k = Append.of(this.data1k);
		this.append64k = Append.of(this.data64k);
		List<Point> all = new ArrayList<>();
		for (int i = 0; i < POINTS; i++) {
			all.add(new Point(i, i, -i));
		}
		this.points = new Points(all);
	}

	/** Gives the memory back. */
	@TearDown
	public void close() {
		this.entries.release();
		this.builder.close();
		this.device.release();
		List.of(this.data1k).forEach(RegisteredBuffer::release);
		List.of(this.data64k).forEach(RegisteredBuffer::release);
		this.inPlace.release();
		this.memory.close();
		this.device.close();
	}

	/** Five scalars and a string. */
	@Benchmark
	public int smallStock() {
		return this.stock.small(1, 2, 3, (short) 4, true, TEXT);
	}

	/** Five scalars and a string, named in a work request. */
	@Benchmark
	public int smallStockPosted() {
		return this.device.post(this.stock.small(1, 2, 3, (short) 4, true, TEXT));
	}

	/** Five scalars and a string. */
	@Benchmark
	public int smallInPlace() {
		return this.inPlace.small(1, 2, 3, (short) 4, true, TEXT);
	}

	/** Five scalars and a string, named in a work request. */
	@Benchmark
	public int smallInPlacePosted() {
		return this.device.post(this.inPlace.small(1, 2, 3, (short) 4, true, TEXT));
	}

	/** Five scalars and a string. */
	@Benchmark
	public int smallGather() {
		small();
		return finish();
	}

	/** Five scalars and a string, named in a work request. */
	@Benchmark
	public int smallGatherPosted() {
		small();
		return this.device.post(this.builder.finish());
	}

	private void small() {
		this.builder.begin(SmallTable.TYPE)
			.put(SmallTable.A, 1)
			.put(SmallTable.B, 2L)
			.put(SmallTable.C, 3.0)
			.put(SmallTable.D, (short) 4)
			.put(SmallTable.E, true)
			.put(SmallTable.TEXT, TEXT);
	}

	/** Five scalars and a string. */
	@Benchmark
	public int smallRecord() {
		return encode(this.smallFormat, this.small);
	}

	/** 16 entries of 1 KiB. */
	@Benchmark
	public int entries1kStock() {
		return this.stock.append(this.data1k);
	}

	/** 16 entries of 1 KiB, named in a work request. */
	@Benchmark
	public int entries1kStockPosted() {
		return this.device.post(this.stock.append(this.data1k));
	}

	/** 16 entries of 1 KiB. */
	@Benchmark
	public int entries1kInPlace() {
		return this.inPlace.append(this.data1k);
	}

	/** 16 entries of 1 KiB, named in a work request. */
	@Benchmark
	public int entries1kInPlacePosted() {
		return this.device.post(this.inPlace.append(this.data1k));
	}

	/** 16 entries of 1 KiB, named in a work request. */
	@Benchmark
	public int entries1kGatherPosted() {
		append(this.data1k);
		return this.device.post(this.builder.finish());
	}

	/** 16 entries of 1 KiB. */
	@Benchmark
	public int entries1kGather() {
		append(this.data1k);
		return finish();
	}

	/** 16 entries of 1 KiB. */
	@Benchmark
	public int entries1kRecord() {
		return encode(this.appendFormat, this.append1k);
	}

	/** 16 entries of 64 KiB. */
	@Benchmark
	public int entries64kStock() {
		return this.stock.append(this.data64k);
	}

	/** 16 entries of 64 KiB. */
	@Benchmark
	public int entries64kInPlace() {
		return this.inPlace.append(this.data64k);
	}

	/** 16 entries of 64 KiB. */
	@Benchmark
	public int entries64kGather() {
		append(this.data64k);
		return finish();
	}

	/** 16 entries of 64 KiB. */
	@Benchmark
	public int entries64kRecord() {
		return encode(this.appendFormat, this.append64k);
	}

	/**
	 * The same 16 entries of 1 KiB for five followers, per follower: the finished vector
	 * of entries is part of five messages that live at the same time.
	 */
	@Benchmark
	@OperationsPerInvocation(FOLLOWERS)
	public int followersGather() {
		return follow(this.entries);
	}

	/** The same, with the time for building the vector of entries once. */
	@Benchmark
	@OperationsPerInvocation(FOLLOWERS)
	public int followersAndEntriesGather() {
		GatherMessage built = vector();
		int bytes = follow(built);
		built.release();
		return bytes;
	}

	private GatherMessage vector() {
		this.builder.beginVector(AppendTable.ENTRIES, ENTRIES);
		entries(this.data1k);
		return this.builder.finish();
	}

	private int follow(GatherMessage shared) {
		int bytes = 0;
		for (int i = 0; i < FOLLOWERS; i++) {
			this.followers[i] = this.builder.begin(AppendTable.TYPE)
				.put(AppendTable.TERM, 1L)
				.put(AppendTable.LEADER, (long) i)
				.put(AppendTable.ENTRIES, shared)
				.finish();
		}
		for (GatherMessage follower : this.followers) {
			bytes += follower.totalBytes();
			follower.release();
		}
		return bytes;
	}

	/** 1000 small tables. */
	@Benchmark
	public int tablesStock() {
		return this.stock.points(POINTS);
	}

	/** 1000 small tables. */
	@Benchmark
	public int tablesInPlace() {
		return this.inPlace.points(POINTS);
	}

	/** 1000 small tables. */
	@Benchmark
	public int tablesGather() {
		this.builder.begin(PointsTable.TYPE).begin(PointsTable.POINTS, POINTS);
		for (int i = 0; i < POINTS; i++) {
			this.builder.begin().put(PointTable.ID, i).put(PointTable.X, (float) i).put(PointTable.Y, (float) -i).end();
		}
		this.builder.end();
		return finish();
	}

	/** 1000 small tables. */
	@Benchmark
	public int tablesRecord() {
		return encode(this.pointsFormat, this.points);
	}

	private void append(RegisteredBuffer[] data) {
		this.builder.begin(AppendTable.TYPE)
			.put(AppendTable.TERM, 1L)
			.put(AppendTable.LEADER, 2L)
			.begin(AppendTable.ENTRIES, ENTRIES);
		entries(data);
		this.builder.end();
	}

	private void entries(RegisteredBuffer[] data) {
		for (int i = 0; i < ENTRIES; i++) {
			this.builder.begin()
				.put(EntryTable.INDEX, (long) i)
				.put(EntryTable.TERM, 1L)
				.put(EntryTable.DATA, data[i])
				.end();
		}
	}

	private int finish() {
		GatherMessage message = this.builder.finish();
		int bytes = message.totalBytes();
		message.release();
		return bytes;
	}

	private int encode(MessageFormat format, Object value) {
		format.encode(value, this.segments);
		int bytes = this.segments.totalBytes();
		this.segments.clear();
		return bytes;
	}

	/** Five scalars and a string. */
	public record Small(int a, long b, double c, short d, boolean e, String text) {

	}

	/** A log entry. */
	public record Entry(long index, long term, RegisteredBuffer data) {

	}

	/** Log replication. */
	public record Append(long term, long leader, List<Entry> entries) {

		static Append of(RegisteredBuffer[] data) {
			List<Entry> entries = new ArrayList<>();
			for (RegisteredBuffer each : data) {
				entries.add(new Entry(entries.size(), 1, each));
			}
			return new Append(1, 2, entries);
		}

	}

	/** A small table. */
	public record Point(int id, float x, float y) {

	}

	/** Many small tables. */
	public record Points(List<Point> points) {

	}

	private static final class SmallTable {

		static final TableType TYPE = TableType.named("Small");

		static final TableField.OfInt A = TYPE.addInt("a");

		static final TableField.OfLong B = TYPE.addLong("b");

		static final TableField.OfDouble C = TYPE.addDouble("c");

		static final TableField.OfShort D = TYPE.addShort("d");

		static final TableField.OfBoolean E = TYPE.addBoolean("e");

		static final TableField.OfString TEXT = TYPE.addString("text");

	}

	private static final class EntryTable {

		static final TableType TYPE = TableType.named("Entry");

		static final TableField.OfLong INDEX = TYPE.addLong("index");

		static final TableField.OfLong TERM = TYPE.addLong("term");

		static final TableField.OfBytes DATA = TYPE.addBytes("data");

	}

	private static final class AppendTable {

		static final TableType TYPE = TableType.named("Append");

		static final TableField.OfLong TERM = TYPE.addLong("term");

		static final TableField.OfLong LEADER = TYPE.addLong("leader");

		static final TableField.OfTables ENTRIES = TYPE.addTables("entries", EntryTable.TYPE);

	}

	private static final class PointTable {

		static final TableType TYPE = TableType.named("Point");

		static final TableField.OfInt ID = TYPE.addInt("id");

		static final TableField.OfFloat X = TYPE.addFloat("x");

		static final TableField.OfFloat Y = TYPE.addFloat("y");

	}

	private static final class PointsTable {

		static final TableType TYPE = TableType.named("Points");

		static final TableField.OfTables POINTS = TYPE.addTables("points", PointTable.TYPE);

	}

}
