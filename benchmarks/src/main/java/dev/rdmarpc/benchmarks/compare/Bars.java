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

package dev.rdmarpc.benchmarks.compare;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

/** What the framework is to reach, and where it would have regressed. */
final class Bars {

	private static final int SMALL = 64;

	private static final int LARGE = 1 << 20;

	private static final String INLINE = "rdma";

	private static final String DEFAULT = "rdma-default";

	private static final String REGISTERED = "rdma-registered";

	private static final String GRPC_DEFAULT = "grpc-default";

	private static final String SPRING = "rdma-spring";

	private static final String UNOBSERVED = "rdma-spring-unobserved";

	private static final int ALLOCATIONS = 2000;

	/** What has to be reached, and what is aimed for then. */
	static final List<Bar> GOALS = List.of(
			Bar.atMost("sync p50, rdma to floor", 1.25, 1.15,
					(rows) -> sync(rows, INLINE).p50Micros() / sync(rows, Peers.FLOOR).p50Micros()),
			Bar.atMost("sync p50, rdma-default to floor", 1.6, 1.3,
					(rows) -> sync(rows, DEFAULT).p50Micros() / sync(rows, Peers.FLOOR).p50Micros()),
			Bar.atMost("sync p99, rdma to floor", 2, 1.5,
					(rows) -> sync(rows, INLINE).p99Micros() / sync(rows, Peers.FLOOR).p99Micros()),
			Bar.atLeast("calls/s at 64 outstanding, rdma to grpc-direct", 12, 20,
					(rows) -> rates(rows, Mode.ASYNC, INLINE, Peers.GRPC)),
			Bar.atLeast("calls/s at 64 outstanding, rdma to floor", 0.25, 0.5,
					(rows) -> rates(rows, Mode.ASYNC, INLINE, Peers.FLOOR)),
			Bar.atLeast("calls/s at 64 outstanding, rdma-default to grpc-default", 40, 80,
					(rows) -> rates(rows, Mode.ASYNC, DEFAULT, GRPC_DEFAULT)),
			Bar.atLeast("calls/s of 16 x 16, rdma to grpc-direct", 12, 20,
					(rows) -> rates(rows, Mode.MULTI, INLINE, Peers.GRPC)),
			Bar.atLeast("blocking calls/s of 16 threads to one thread, rdma", 3, 6,
					(rows) -> threadsToOne(rows, INLINE)),
			Bar.atLeast("blocking calls/s of 16 threads to one thread, rdma-default", 3, 6,
					(rows) -> threadsToOne(rows, DEFAULT)),
			Bar.atMost("200 threads that only wait, % of a processor, rdma", 2, 1,
					(rows) -> rows.of(INLINE, Mode.WAITING, SMALL).processorPercent()),
			Bar.atLeast("CPU us/call at 64 outstanding, grpc-direct to rdma", 12, 20,
					(rows) -> rows.of(Peers.GRPC, Mode.ASYNC, SMALL).cpuMicrosPerCall()
							/ rows.of(INLINE, Mode.ASYNC, SMALL).cpuMicrosPerCall()),
			Bar.atMost("heap B/call above arguments, result and future, rdma", 64, 0,
					(rows) -> heapAboveLeast(rows, INLINE)),
			Bar.atMost("heap B/call above arguments, result and future, rdma-default", 64, 0,
					(rows) -> heapAboveLeast(rows, DEFAULT)),
			Bar.atLeast("1 MiB one after the other, MB/s, rdma to floor", 0.6, 0.8,
					(rows) -> largeToFloor(rows, INLINE)),
			Bar.atLeast("1 MiB one after the other, MB/s, rdma-registered to floor", 0.9, 0.95,
					(rows) -> largeToFloor(rows, REGISTERED)),
			Bar.atLeast("calls/s at 64 outstanding, rdma-spring observed to not", 0.8, 0.9,
					(rows) -> rates(rows, Mode.ASYNC, SPRING, UNOBSERVED)),
			Bar.atLeast("sync calls/s, rdma-spring observed to not", 0.8, 0.9,
					(rows) -> rates(rows, Mode.SYNC, SPRING, UNOBSERVED)),
			Bar.atMost("sync p50, us that observations add to rdma-spring", 2, 1,
					(rows) -> sync(rows, SPRING).p50Micros() - sync(rows, UNOBSERVED).p50Micros()));

	/** What is kept even on a busy machine, unless something has become much worse. */
	static final List<Bar> LIMITS = List.of(
			Bar.atMost("sync p50, rdma to floor", 6, 1.25,
					(rows) -> sync(rows, INLINE).p50Micros() / sync(rows, Peers.FLOOR).p50Micros()),
			Bar.atMost("sync p50, rdma-default to floor", 20, 1.6,
					(rows) -> sync(rows, DEFAULT).p50Micros() / sync(rows, Peers.FLOOR).p50Micros()),
			Bar.atLeast("sync calls/s, rdma to grpc-direct", 1.5, 10,
					(rows) -> rates(rows, Mode.SYNC, INLINE, Peers.GRPC)),
			Bar.atLeast("calls/s at 64 outstanding, rdma to grpc-direct", 1.5, 12,
					(rows) -> rates(rows, Mode.ASYNC, INLINE, Peers.GRPC)),
			Bar.atLeast("calls/s at 64 outstanding, rdma to floor", 0.03, 0.25,
					(rows) -> rates(rows, Mode.ASYNC, INLINE, Peers.FLOOR)),
			Bar.atLeast("calls/s at 64 outstanding, rdma-default to rdma", 0.1, 0.8,
					(rows) -> rates(rows, Mode.ASYNC, DEFAULT, INLINE)),
			Bar.atMost("heap B/call above arguments, result and future, rdma", 1000, 64,
					(rows) -> heapAboveLeast(rows, INLINE)),
			Bar.atMost("heap B/call above arguments, result and future, rdma-default", 1000, 64,
					(rows) -> heapAboveLeast(rows, DEFAULT)),
			Bar.atLeast("1 MiB one after the other, MB/s, rdma to floor", 0.12, 0.6,
					(rows) -> largeToFloor(rows, INLINE)));

	@SuppressWarnings("UnusedVariable") // what is kept there is really allocated
	private static volatile @Nullable Object sink;

	private Bars() {
	}

	private static Row sync(Rows rows, String peer) {
		return rows.of(peer, Mode.SYNC, SMALL);
	}

	private static double rates(Rows rows, Mode mode, String peer, String base) {
		return rows.of(peer, mode, SMALL).callsPerSecond() / rows.of(base, mode, SMALL).callsPerSecond();
	}

	private static double threadsToOne(Rows rows, String peer) {
		return rows.of(peer, Mode.THREADS, SMALL).callsPerSecond() / sync(rows, peer).callsPerSecond();
	}

	private static double largeToFloor(Rows rows, String peer) {
		return rows.of(peer, Mode.SYNC, LARGE).megabytesPerSecond()
				/ rows.of(Peers.FLOOR, Mode.SYNC, LARGE).megabytesPerSecond();
	}

	/** Of blocking and asynchronous calls, the larger. */
	private static double heapAboveLeast(Rows rows, String peer) {
		double blocking = sync(rows, peer).allocatedBytesPerCall() - leastHeap(false);
		double async = rows.of(peer, Mode.ASYNC, SMALL).allocatedBytesPerCall() - leastHeap(true);
		return Math.max(blocking, async);
	}

	/**
	 * What a call allocates whose user gets new objects: the argument of the handler, the
	 * result of the caller, and the future with the callback on it that starts the next
	 * call. The caller's argument is always the same.
	 */
	static double leastHeap(boolean future) {
		Runnable calls = () -> {
			for (int i = 0; i < ALLOCATIONS; i++) {
				sink = new byte[SMALL];
				byte[] result = new byte[SMALL];
				sink = result;
				if (future) {
					CompletableFuture<byte[]> answer = new CompletableFuture<>();
					sink = answer.whenComplete(Bars::ignore);
					answer.complete(result);
				}
			}
		};
		calls.run();
		return (double) ProcessUsage.allocatedBy(calls) / ALLOCATIONS;
	}

	private static void ignore(byte @Nullable [] result, @Nullable Throwable failure) {
		// only what the registration costs counts
	}

}
