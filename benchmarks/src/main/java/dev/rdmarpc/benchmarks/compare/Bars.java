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

import dev.rdmarpc.benchmarks.compare.floor.CopyPeer;

/** What the framework is to reach, and where it would have regressed. */
final class Bars {

	private static final int SMALL = 64;

	private static final int LARGE = 1 << 20;

	private static final String INLINE = "rdma";

	private static final String DEFAULT = "rdma-default";

	private static final String REGISTERED = "rdma-registered";

	private static final String SHARED_REGISTERED = "rdma-shm-registered";

	private static final String GRPC_DEFAULT = "grpc-default";

	private static final String SPRING = "rdma-spring";

	private static final String UNOBSERVED = "rdma-spring-unobserved";

	private static final String TLS = "rdma-tls";

	private static final String TLS_REGISTERED = "rdma-tls-registered";

	private static final String GRPC_TLS = "grpc-tls";

	private static final int ALLOCATIONS = 2000;

	/** What has to be reached, and what is aimed for then. */
	static final List<Bar> GOALS = List.of(p50ToFloor(INLINE, 1.25, 1.15), p50ToFloor(DEFAULT, 1.6, 1.3),
			Bar.atMost("sync p99, rdma to floor", 2, 1.5,
					(rows) -> sync(rows, INLINE).p99Micros() / sync(rows, Peers.FLOOR).p99Micros()),
			rates(Mode.ASYNC, INLINE, Peers.GRPC, 12, 20), rates(Mode.ASYNC, INLINE, Peers.FLOOR, 0.25, 0.5),
			rates(Mode.ASYNC, DEFAULT, GRPC_DEFAULT, 40, 80), rates(Mode.MULTI, INLINE, Peers.GRPC, 12, 20),
			threadsToOne(INLINE, 3, 6), threadsToOne(DEFAULT, 3, 6),
			Bar.atMost("200 threads that only wait, % of a processor, rdma", 2, 1,
					(rows) -> rows.of(INLINE, Mode.WAITING, SMALL).processorPercent()),
			Bar.atLeast("CPU us/call at 64 outstanding, grpc-direct to rdma", 12, 20,
					(rows) -> rows.of(Peers.GRPC, Mode.ASYNC, SMALL).cpuMicrosPerCall()
							/ rows.of(INLINE, Mode.ASYNC, SMALL).cpuMicrosPerCall()),
			heapAboveLeast(INLINE, 64, 0), heapAboveLeast(DEFAULT, 64, 0), largeToFloor(INLINE, 0.6, 0.8),
			largeToFloor(REGISTERED, 0.9, 0.95), rates(Mode.ASYNC, SPRING, UNOBSERVED, 0.8, 0.9),
			rates(Mode.SYNC, SPRING, UNOBSERVED, 0.8, 0.9),
			Bar.atLeast("messages/s of one stream, rdma to grpc-direct", 10, 20,
					(rows) -> messages(rows, INLINE, Mode.STREAM) / messages(rows, Peers.GRPC, Mode.STREAM)),
			Bar.atMost("% of messages/s that a stalled stream beside costs, rdma", 5, 1,
					(rows) -> 100 - 100 * messages(rows, INLINE, Mode.BESIDE) / messages(rows, INLINE, Mode.STREAM)),
			Bar.atMost("sync p50, us that observations add to rdma-spring", 2, 1,
					(rows) -> sync(rows, SPRING).p50Micros() - sync(rows, UNOBSERVED).p50Micros()),
			Bar.atMost("sync p50, rdma-tls to rdma", 2, 1.5,
					(rows) -> sync(rows, TLS).p50Micros() / sync(rows, INLINE).p50Micros()),
			largeTo("tls", TLS, 0.8, 0.9), largeTo("tls", TLS_REGISTERED, 0.8, 0.9), asWithoutTls(Mode.SYNC),
			asWithoutTls(Mode.ASYNC), largeTo(CopyPeer.NAME, SHARED_REGISTERED, 0.4, 0.8));

	/** What is kept even on a busy machine, unless something has become much worse. */
	static final List<Bar> LIMITS = List.of(p50ToFloor(INLINE, 15, 1.25), p50ToFloor(DEFAULT, 20, 1.6),
			rates(Mode.SYNC, INLINE, Peers.GRPC, 1.5, 10), rates(Mode.ASYNC, INLINE, Peers.GRPC, 1.5, 12),
			rates(Mode.ASYNC, INLINE, Peers.FLOOR, 0.03, 0.25), rates(Mode.ASYNC, DEFAULT, INLINE, 0.1, 0.8),
			heapAboveLeast(INLINE, 1000, 64), heapAboveLeast(DEFAULT, 1000, 64), largeToFloor(INLINE, 0.12, 0.6));

	@SuppressWarnings("UnusedVariable") // what is kept there is really allocated
	private static volatile @Nullable Object sink;

	private Bars() {
	}

	private static Row sync(Rows rows, String peer) {
		return rows.of(peer, Mode.SYNC, SMALL);
	}

	private static double messages(Rows rows, String peer, Mode mode) {
		return rows.of(peer, mode, SMALL).callsPerSecond();
	}

	private static Bar p50ToFloor(String peer, double limit, double aim) {
		return Bar.atMost("sync p50, " + peer + " to floor", limit, aim,
				(rows) -> sync(rows, peer).p50Micros() / sync(rows, Peers.FLOOR).p50Micros());
	}

	private static Bar rates(Mode mode, String peer, String base, double limit, double aim) {
		String calls = switch (mode) {
			case ASYNC -> "calls/s at 64 outstanding, ";
			case MULTI -> "calls/s of 16 x 16, ";
			default -> mode + " calls/s, ";
		};
		return Bar.atLeast(calls + peer + " to " + base, limit, aim,
				(rows) -> rows.of(peer, mode, SMALL).callsPerSecond() / rows.of(base, mode, SMALL).callsPerSecond());
	}

	/**
	 * What this framework gains over gRPC with TLS, as a part of what it gains without.
	 */
	private static Bar asWithoutTls(Mode mode) {
		return Bar.atLeast(mode + " calls/s, rdma-tls to grpc-tls, to the same without TLS", 0.8, 1,
				(rows) -> rate(rows, TLS, mode) / rate(rows, GRPC_TLS, mode)
						/ (rate(rows, INLINE, mode) / rate(rows, Peers.GRPC, mode)));
	}

	private static double rate(Rows rows, String peer, Mode mode) {
		return rows.of(peer, mode, SMALL).callsPerSecond();
	}

	private static Bar threadsToOne(String peer, double limit, double aim) {
		return Bar.atLeast("blocking calls/s of 16 threads to one thread, " + peer, limit, aim,
				(rows) -> rows.of(peer, Mode.THREADS, SMALL).callsPerSecond() / sync(rows, peer).callsPerSecond());
	}

	private static Bar largeToFloor(String peer, double limit, double aim) {
		return largeTo(Peers.FLOOR, peer, limit, aim);
	}

	private static Bar largeTo(String base, String peer, double limit, double aim) {
		return Bar.atLeast("1 MiB one after the other, MB/s, " + peer + " to " + base, limit, aim,
				(rows) -> rows.of(peer, Mode.SYNC, LARGE).megabytesPerSecond()
						/ rows.of(base, Mode.SYNC, LARGE).megabytesPerSecond());
	}

	/** Of blocking and asynchronous calls, the larger, in whole bytes. */
	private static Bar heapAboveLeast(String peer, double limit, double aim) {
		return Bar.atMost("heap B/call above arguments, result and future, " + peer, limit, aim,
				(rows) -> Math.rint(Math.max(sync(rows, peer).allocatedBytesPerCall() - leastHeap(false),
						rows.of(peer, Mode.ASYNC, SMALL).allocatedBytesPerCall() - leastHeap(true))));
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
