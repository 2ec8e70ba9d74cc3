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

package dev.rdmarpc.sample.web;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.rpc.CallMetadata;
import dev.rdmarpc.rpc.CallObservation;
import dev.rdmarpc.rpc.CallObserver;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.Priority;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * Counts the successful calls of a client by how long they took, for the heat map of the
 * page. Two buckets cover a doubling, from one microsecond to one second. Thread-safe.
 */
class CallLatencies implements CallObserver {

	static final int BUCKETS = 41;

	private final LongAdder[] counts = IntStream.range(0, BUCKETS)
		.mapToObj((i) -> new LongAdder())
		.toArray(LongAdder[]::new);

	private final LongAdder[] byPriority = IntStream.range(0, Priority.values().length)
		.mapToObj((i) -> new LongAdder())
		.toArray(LongAdder[]::new);

	private final Map<MethodDescriptor, LongAdder> byMethod = new ConcurrentHashMap<>();

	@Override
	public CallObservation callStarted(MethodDescriptor method, String peer, CallMetadata metadata) {
		this.byMethod.computeIfAbsent(method, this::ofPriority).increment();
		return new Timed();
	}

	private LongAdder ofPriority(MethodDescriptor method) {
		Priority declared = method.priority();
		return this.byPriority[((declared != null) ? declared : Priority.NORMAL).code()];
	}

	void record(long nanos) {
		this.counts[bucketOf(nanos)].increment();
	}

	/** How many calls each bucket has, since the start. */
	long[] counts() {
		return Arrays.stream(this.counts).mapToLong(LongAdder::sum).toArray();
	}

	/**
	 * How many calls of each priority have begun, as their methods declare it. Those that
	 * declare none count as {@code NORMAL}.
	 */
	Map<Priority, Long> byPriority() {
		Map<Priority, Long> counts = new EnumMap<>(Priority.class);
		for (Priority priority : Priority.values()) {
			counts.put(priority, this.byPriority[priority.code()].sum());
		}
		return counts;
	}

	static int bucketOf(long nanos) {
		long micros = Math.max(1, nanos / 1_000);
		int octave = 63 - Long.numberOfLeadingZeros(micros);
		int upperHalf = (octave > 0) ? (int) (micros >> (octave - 1)) & 1 : 0;
		return Math.min(BUCKETS - 1, 2 * octave + upperHalf);
	}

	/** The shortest time that belongs to each bucket, in microseconds. */
	static double[] bounds() {
		return IntStream.range(0, BUCKETS).mapToDouble((i) -> (1L << (i / 2)) * ((i % 2 == 0) ? 1 : 1.5)).toArray();
	}

	/** A call that is timed. */
	private final class Timed implements CallObservation {

		private final long begun = System.nanoTime();

		@Override
		public Scope openScope() {
			return Scope.NONE;
		}

		@Override
		public void callEnded(RpcStatus status, @Nullable Throwable error) {
			if (status == RpcStatus.OK) {
				record(System.nanoTime() - this.begun);
			}
		}

	}

}
